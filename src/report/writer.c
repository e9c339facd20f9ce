// Exports piece by piece, so that a journal of any length takes little memory.
#include "report/report_internal.h"

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
