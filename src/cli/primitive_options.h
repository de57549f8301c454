// Options of one kind of thing only: permits of semaphores, groups of rooms, and so on. Each part
// refuses algorithms that it is not for.
#pragma once

#include "catalogue/catalogue.h"
#include "cli/command.h"
#include "cli/detection_options.h"
#include "cli/election_options.h"
#include "cli/json.h"
#include "cli/reservation_options.h"
#include "cli/room_options.h"
#include "cli/semaphore_options.h"

namespace turno::cli {

struct PrimitiveOptions {
  SemaphoreOptions semaphore;
  RoomOptions room;
  ReservationOptions reservation;
  ElectionOptions election;
  DetectionOptions detection;

  void add_to(Command command) {
    semaphore.add_to(command);
    room.add_to(command);
    reservation.add_to(command);
    election.add_to(command);
    detection.add_to(command);
  }
  // Fills in what the algorithm needs beyond nodes and topology. Throws UsageError.
  void apply(const Algorithm& algorithm, Setup& setup) const {
    semaphore.apply(algorithm, setup);
    room.apply(algorithm, setup);
    detection.apply(algorithm, setup);
  }
  // What was chosen, for the output.
  void describe(const Algorithm& algorithm, Json& json) const {
    semaphore.describe(algorithm, json);
    room.describe(algorithm, json);
    reservation.describe(algorithm, json);
    election.describe(algorithm, json);
    detection.describe(algorithm, json);
  }
};

}  // namespace turno::cli
