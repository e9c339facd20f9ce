# Turns a text file into a C string constant: cmake -DINPUT=f -DOUTPUT=f.c -DNAME=symbol -P embed.cmake
file(READ ${INPUT} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n\"" text "${text}")
file(WRITE ${OUTPUT} "extern const char ${NAME}[];\nconst char ${NAME}[] =\n\"${text}\";\n")
