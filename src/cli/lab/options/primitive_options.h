// Options of one kind of thing only: permits of semaphores, groups of rooms, and so on. Each part
// refuses algorithms that it is not for.
#pragma once

#include "catalogue/catalogue.h"
#include "catalogue/system.h"
#include "cli/frame/command.h"
#include "cli/lab/options/detection_options.h"
#include "cli/lab/options/election_options.h"
#include "cli/lab/options/reservation_options.h"
#include "cli/lab/options/room_options.h"
#include "cli/lab/options/semaphore_options.h"
#include "core/text/json.h"

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
  // Options about users are of no use to what has none.
  static void refuse_users(const Info& info, const std::vector<std::string>& given) {
    if (has_users(info.primitive) || given.empty()) return;
    throw UsageError(std::string(info.name) + " has no users who ask: leave " + given.front() +
                     " away");
  }
  // What was chosen, for the output; as text it begins with a comma.
  [[nodiscard]] std::string text(const Algorithm& algorithm) const {
    return election.text() + detection.text(algorithm);
  }
  void describe(const Algorithm& algorithm, Json& json) const {
    semaphore.describe(algorithm, json);
    room.describe(algorithm, json);
    reservation.describe(algorithm, json);
    election.describe(algorithm, json);
    detection.describe(algorithm, json);
  }
};

}  // namespace turno::cli
