// Exports piece by piece, so that a journal of any length takes little memory.
#include "report/report_internal.h"

void add_text(Text *out, const char *text) { text_add_bytes(out, text, strlen(text)); }

void add_count(Text *out, uint64_t count) {
  char digits[20]; // of 2^64 - 1
  size_t at = sizeof digits;
  do {
    digits[--at] = (char)('0' + count % 10);
    count /= 10;
  } while (count > 0);
  text_add_bytes(out, digits + at, sizeof digits - at);
}

void writer_flush(Writer *writer, size_t above) {
  if (writer->text.length <= above) return;
  writer->good = writer->good && writer->sink->write(writer->sink->context, writer->text.at, writer->text.length);
  writer->text.length = 0;
}

bool writer_end(Writer *writer) {
  writer_flush(writer, 0);
  text_free(&writer->text);
  return writer->good;
}
