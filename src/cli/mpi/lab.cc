#include "cli/mpi/lab.h"

#include <mpi.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "cli/mpi/ranks.h"

namespace turno::cli {

namespace {

// In both ways: a run, or what came of it. An empty run is the end.
constexpr int run_tag = 7;

void send(int to, const std::string& text) {
  MPI_Send(text.data(), static_cast<int>(text.size()), MPI_BYTE, to, run_tag, MPI_COMM_WORLD);
}

// From whom is then in `from`.
std::string receive(int& from) {
  MPI_Status mail;
  MPI_Probe(from, run_tag, MPI_COMM_WORLD, &mail);
  int size = 0;
  MPI_Get_count(&mail, MPI_BYTE, &size);
  std::string text(static_cast<std::size_t>(size), '\0');
  MPI_Recv(text.data(), size, MPI_BYTE, mail.MPI_SOURCE, run_tag, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  from = mail.MPI_SOURCE;
  return text;
}

int ranks() {
  int number = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &number);
  return number;
}

}  // namespace

void simulate_on_ranks(const std::vector<lab::Task>& tasks, std::size_t jobs, const Done& done) {
  if (ranks() == 1) return run_in_workers(tasks, jobs, done);
  std::map<int, const lab::Task*> busy;
  std::size_t next = 0;
  const auto give = [&](int rank) {
    if (next == tasks.size()) return;
    busy[rank] = &tasks[next];
    send(rank, tasks[next++].line());
  };
  for (int rank = 1; rank < ranks(); ++rank) give(rank);
  std::string wrong;
  while (!busy.empty()) {
    int rank = MPI_ANY_SOURCE;
    const auto text = receive(rank);
    const auto& task = *busy[rank];
    busy.erase(rank);
    try {
      done(task, heard(task, text));
      if (wrong.empty()) give(rank);
    } catch (const std::exception& error) {
      wrong = error.what();  // the others are waited for
    }
  }
  if (!wrong.empty()) throw std::runtime_error(wrong);
}

void run_on_ranks(const std::vector<lab::Task>& tasks, std::size_t /*jobs*/, const Done& done) {
  for (const auto& task : tasks) {
    for (int rank = 1; rank < ranks(); ++rank) send(rank, task.line());
    done(task, heard(task, told(task, run_nodes_on_ranks)));
  }
}

void serve_runs() {
  for (;;) {
    int first = 0;
    const auto line = receive(first);
    if (line.empty()) return;
    const auto task = lab::Task::of(line);
    const auto text = told(task, run_nodes_on_ranks);
    if (!task.real) send(0, text);
  }
}

void dismiss_ranks() {
  for (int rank = 1; rank < ranks(); ++rank) send(rank, "");
}

}  // namespace turno::cli
