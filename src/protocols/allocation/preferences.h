// Which of several equal instances an algorithm asks for.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/fields.h"
#include "protocols/allocation/selection.h"

namespace turno::protocols {

// Of one type, who has asked for it so often in a row that others should rather not ask there.
struct Frequent {
  NodeId who;
  std::uint32_t times = 0;
  bool operator==(const Frequent&) const = default;
  [[nodiscard]] auto fields() const { return std::tie(who, times); }
};
using FrequentUsers = boost::container::small_vector<Frequent, 2>;

// Without preference: of each type from some instance onwards, and after the last the first. Where
// it begins is a number made of the type, the node and the number of its request.
class Scattered {
 public:
  Scattered(const Choosing& of, std::uint32_t round) : of_(of), round_(round) {}

  [[nodiscard]] Instances select() const {
    Instances chosen;
    for (std::size_t type = 0; type < of_.needs.types(); ++type) {
      if (of_.needs.of(type) == 0) continue;
      const auto all = candidates(of_, type);
      chosen.insert(chosen.end(), all.sure.begin(), all.sure.end());
      const auto first = all.more > 0 ? beginning(type, all.possible) : 0;
      for (std::size_t i = 0; i < all.more; ++i)
        chosen.push_back(all.possible[(first + i) % all.possible.size()]);
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

 private:
  // A place in `possible`.
  [[nodiscard]] std::size_t beginning(std::size_t type, const Instances& possible) const {
    Digest digest(type + 1);
    digest.add((std::uint64_t{round_} << 32) | of_.self.value);
    const auto& type_of = of_.setup.resources.type_of;
    const auto count = static_cast<std::uint64_t>(std::count(type_of.begin(), type_of.end(), type));
    auto left = digest.value() % count;
    std::uint32_t instance = 0;
    while (type_of[instance] != type || left-- > 0) ++instance;
    const auto at = std::lower_bound(possible.begin(), possible.end(), instance);
    return at == possible.end() ? 0 : static_cast<std::size_t>(at - possible.begin());
  }

  const Choosing& of_;
  std::uint32_t round_;
};

// Its own and free ones; then others', in this order of preference: of neighbours, of neighbours
// who use the type often, of others, of others who use it often. Among equals the holder who can
// give most comes first, so that few are asked; or else the one with the smallest number.
class Nearest {
 public:
  Nearest(const Choosing& of, const FrequentUsers& frequent, bool most_first = true)
      : of_(of), frequent_(frequent), most_first_(most_first), more_(of.needs) {}

  Instances select() {
    take_from(of_.self);
    take_from(nobody);
    for (std::uint32_t i = 0; i < of_.table.size(); ++i)
      if (holder(i) != of_.self && holder(i) != nobody) possible_.push_back(i);
    for (int order = 0; order < 4 && !more_.empty(); ++order)
      while (take_from_the_best(order)) {
      }
    std::sort(chosen_.begin(), chosen_.end());
    return chosen_;
  }

 private:
  [[nodiscard]] NodeId holder(std::uint32_t instance) const { return of_.table[instance].holder; }
  [[nodiscard]] std::uint16_t type_of(std::uint32_t instance) const {
    return of_.setup.resources.type_of[instance];
  }
  [[nodiscard]] int order_of(std::uint32_t instance) const {
    const auto type = type_of(instance);
    const bool often = type < frequent_.size() && frequent_[type].who == holder(instance);
    return (of_.setup.sites.together(of_.self, holder(instance)) ? 0 : 2) + (often ? 1 : 0);
  }

  void take_from(NodeId source) {
    for (std::uint32_t i = 0; i < of_.table.size(); ++i) {
      if (holder(i) != source || more_.of(type_of(i)) == 0) continue;
      more_.take_one(type_of(i));
      chosen_.push_back(i);
    }
  }

  bool take_from_the_best(int order) {
    boost::container::small_vector<NodeId, 8> holders;
    for (auto instance : possible_) holders.push_back(holder(instance));
    std::sort(holders.begin(), holders.end());
    holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
    Instances best;
    for (auto candidate : holders) {
      auto useful = useful_of(candidate, order);
      if (useful.size() > best.size()) best = std::move(useful);
      if (!most_first_ && !best.empty()) break;
    }
    for (auto instance : best) {
      chosen_.push_back(instance);
      more_.take_one(type_of(instance));
      possible_.erase(std::find(possible_.begin(), possible_.end(), instance));
    }
    return !best.empty();
  }

  [[nodiscard]] Instances useful_of(NodeId candidate, int order) const {
    Instances useful;
    auto more = more_;
    for (auto instance : possible_) {
      const auto type = type_of(instance);
      if (holder(instance) != candidate || more.of(type) == 0 || order_of(instance) != order)
        continue;
      more.take_one(type);
      useful.push_back(instance);
    }
    return useful;
  }

  const Choosing& of_;
  const FrequentUsers& frequent_;
  bool most_first_;
  Needs more_;
  Instances possible_, chosen_;
};

}  // namespace turno::protocols
