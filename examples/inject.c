/* The library from C: a workload, a fault, and what it does.
 *
 *   cc inject.c $(pkg-config --cflags --libs redoubt) -o inject && ./inject
 */
#include <redoubt.h>
#include <stdio.h>

int main(void) {
  RedoubtError error;
  RedoubtRun run;
  RedoubtOutcome outcome;
  RedoubtMachine *machine = redoubt_machine_open("fermi-gtx480", &error);
  RedoubtProgram *program = machine == NULL ? NULL : redoubt_workload_open(machine, "scalarprod", "tiny", NULL, 1, &error);
  bool good = program != NULL && redoubt_run(program, &run, &error) &&
              redoubt_inject(program, "flip:rf[sm=3,reg=64,lane=3,bit=9]@1200", true, &outcome, &error);
  if (good) {
    printf("libredoubt %s: %llu cycles, results are %s\n", redoubt_version(), (unsigned long long)run.cycles,
           run.passed ? "right" : "wrong");
    printf("%s: %s, %llu elements wrong\n\n%s", outcome.name, outcome.meaning, (unsigned long long)outcome.wrong_elements, outcome.why);
  } else {
    fprintf(stderr, "inject: %s\n", error.text);
  }
  redoubt_program_close(program);
  redoubt_machine_close(machine);
  return good ? 0 : 1;
}
