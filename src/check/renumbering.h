// Equal futures as equal fingerprints in an endless run: fences are seen relative to the last one
// granted, and stamps by their rank among all stamps of the world. Where several units have fences
// of their own these drift apart for ever, so they are not seen at all: finite explorations judge
// them.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>

#include "check/world.h"
#include "core/fields.h"

namespace turno::check {

class RenumberingLens {
 public:
  RenumberingLens(Fence last, bool several_units) : last_(last), blind_(several_units) {}

  void operator()(Stamp stamp, int /*collect*/) { stamps_.push_back(stamp.value); }
  void finish() {
    std::sort(stamps_.begin(), stamps_.end());
    stamps_.erase(std::unique(stamps_.begin(), stamps_.end()), stamps_.end());
  }

  [[nodiscard]] std::uint64_t operator()(Fence fence) const {
    if (blind_) return 0;
    return fence == Fence{} ? ~std::uint64_t{0} : last_.value - fence.value;
  }
  [[nodiscard]] std::uint64_t operator()(Stamp stamp) const {
    if (!stamp.any()) return 0;
    const auto at = std::lower_bound(stamps_.begin(), stamps_.end(), stamp.value);
    return static_cast<std::uint64_t>(at - stamps_.begin()) + 1;
  }

 private:
  Fence last_;
  bool blind_;
  boost::container::small_vector<std::uint64_t, 16> stamps_;
};

// Sees no fences and no stamps: recognises a message whose numbers have changed.
struct MaskingLens {
  [[nodiscard]] std::uint64_t operator()(Fence) const { return 0; }
  [[nodiscard]] std::uint64_t operator()(Stamp) const { return 0; }
};

template <Protocol P>
std::uint64_t renumbered_fingerprint(const WorldView<P>& world, Channels channels) {
  constexpr auto primitive = P::info.primitive;
  RenumberingLens lens(world.outside->monitor.last(),
                       primitive == Primitive::semaphore || primitive == Primitive::reservation);
  const auto collect = [&](Stamp stamp) {
    if (stamp.any()) lens(stamp, 0);
  };
  for (const auto& node : world.nodes) for_each_stamp(node, collect);
  for (const auto& flight : world.flights) for_each_stamp(flight.message, collect);
  lens.finish();
  return fingerprint(world, channels, lens);
}

}  // namespace turno::check
