# What of a journal's CSV tests of campaigns compare. To be read by them: . "$(dirname "$0")/columns.sh"

# Texts stand in quotes and have commas of their own.
plain() { # FILE.csv
  awk -F '"' '{ for (i = 2; i <= NF; i += 2) gsub(",", ";", $i); print }' OFS='"' "$1"
}

# Every column but how the fault was settled, and who read it first, which is not known without that.
outcomes() { # FILE.csv
  plain "$1" | awk -F , '
    NR == 1 { for (i = 1; i <= NF; i++) skip[i] = $i ~ /^(settled|class_of|block|pc|opcode|line|read|verified)$/ }
    { for (i = 1; i <= NF; i++) if (!skip[i]) printf "%s,", $i; print "" }'
}
