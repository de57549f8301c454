#include "protocols/parts/quorum/cover_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "core/assert.h"

namespace turno::protocols {

namespace {

constexpr std::size_t most_residues = 256;

// Three residues of which two differ by a unit can be moved and multiplied to {0, 1, x}. The
// smallest such x is the class of the three; `no_class` if no two differ by a unit.
class TripleClasses {
 public:
  static constexpr std::uint8_t no_class = 255;

  explicit TripleClasses(std::size_t n) : n_(n), inverse_(n, 0) {
    for (std::size_t u = 1; u < n; ++u)
      for (std::size_t v = 1; v < n; ++v)
        if (u * v % n == 1) inverse_[u] = v;
    for (std::size_t b = 1; b < n; ++b)
      for (std::size_t c = 1; c < n; ++c) classes_[b][c] = b == c ? no_class : class_of({0, b, c});
  }

  [[nodiscard]] std::uint8_t operator()(std::size_t a, std::size_t b, std::size_t c) const {
    return classes_[b >= a ? b - a : b + n_ - a][c >= a ? c - a : c + n_ - a];
  }

 private:
  [[nodiscard]] std::uint8_t class_of(const std::array<std::size_t, 3>& triple) const {
    std::size_t best = no_class;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        if (i == j) continue;
        const auto unit = inverse_[(triple[j] + n_ - triple[i]) % n_];
        const auto third = triple[3 - i - j];
        if (unit != 0) best = std::min(best, (third + n_ - triple[i]) % n_ * unit % n_);
      }
    return static_cast<std::uint8_t>(best);
  }

  std::size_t n_;
  std::vector<std::size_t> inverse_;
  std::array<std::array<std::uint8_t, most_residues>, most_residues> classes_{};
};

// Depth first. The difference 1 is covered, so 0 and 1 may be taken for members. The covers that
// contain a triple of class x are found from {0, 1, x}; those tried later need no triple of an
// earlier class.
class Exhaustive {
 public:
  Exhaustive(std::size_t n, std::size_t k, std::uint64_t most)
      : n_(n), k_(k), most_(most), classes_(n) {}

  CoverSearch run() {
    std::set<std::uint8_t> firsts;
    for (std::size_t x = 2; x < n_; ++x) firsts.insert(classes_(0, 1, x));
    for (auto x : firsts) {
      class_ = x;
      if (search_from(x) && !gave_up_) return {CoverSearch::Answer::found, sorted(), tried_};
      if (gave_up_) return {CoverSearch::Answer::gave_up, {}, tried_};
    }
    return {CoverSearch::Answer::none, {}, tried_};
  }

 private:
  using Residues = std::vector<std::uint8_t>;

  // A difference and its negative are one: the smaller of the two.
  [[nodiscard]] std::size_t difference(std::size_t a, std::size_t b) const {
    const auto d = a > b ? a - b : b - a;
    return std::min(d, n_ - d);
  }
  [[nodiscard]] std::size_t residues_of(std::size_t difference) const {
    return 2 * difference == n_ ? 1 : 2;
  }

  bool search_from(std::size_t x) {
    members_ = {0, 1};
    covered_.fill(false);
    covered_[1] = true;
    std::size_t missing = n_ - 1 - residues_of(1);
    missing -= newly_covered(x);
    add(x);
    Residues candidates;
    for (std::size_t z = 2; z < n_; ++z)
      if (z != x && classes_(0, 1, z) >= class_ && classes_(0, x, z) >= class_ &&
          classes_(1, x, z) >= class_)
        candidates.push_back(static_cast<std::uint8_t>(z));
    return search(candidates, missing);
  }

  // How many more residues are covered with x.
  std::size_t newly_covered(std::size_t x) {
    std::size_t gain = 0;
    fresh_.clear();
    for (auto member : members_) {
      const auto d = difference(x, member);
      if (covered_[d]) continue;
      covered_[d] = true;
      fresh_.push_back(d);
      gain += residues_of(d);
    }
    for (auto d : fresh_) covered_[d] = false;
    return gain;
  }

  // The differences that it covers anew.
  std::vector<std::size_t> add(std::size_t x) {
    std::vector<std::size_t> fresh;
    for (auto member : members_) {
      const auto d = difference(x, member);
      if (!covered_[d]) fresh.push_back(d);
      covered_[d] = true;
    }
    members_.push_back(x);
    return fresh;
  }
  void take_back(const std::vector<std::size_t>& fresh) {
    for (auto d : fresh) covered_[d] = false;
    members_.pop_back();
  }

  // The candidates are tried in order, each without those before it.
  bool search(const Residues& candidates, std::size_t missing) {
    if (missing == 0) return true;
    const auto more = k_ - members_.size();
    if (more == 0 || candidates.size() < more) return false;
    if (++tried_ > most_) return gave_up_ = true;
    std::array<std::uint16_t, 64> with_gain{};
    std::array<std::uint8_t, most_residues> gain{};
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      gain[i] = static_cast<std::uint8_t>(newly_covered(candidates[i]));
      ++with_gain[gain[i]];
    }
    const auto among_new = more * (more - 1);
    for (std::size_t i = 0; i + more <= candidates.size(); ++i) {
      if (best_sum(with_gain, more) + among_new < missing) return false;
      --with_gain[gain[i]];
      if (gain[i] + best_sum(with_gain, more - 1) + among_new < missing) continue;
      const auto fresh = add(candidates[i]);
      if (search(compatible(candidates, i), missing - gain[i])) return true;
      take_back(fresh);
    }
    return false;
  }

  static std::size_t best_sum(const std::array<std::uint16_t, 64>& with_gain, std::size_t count) {
    std::size_t sum = 0;
    for (std::size_t gain = with_gain.size() - 1; gain > 0 && count > 0; --gain) {
      const auto taken = std::min<std::size_t>(count, with_gain[gain]);
      sum += taken * gain;
      count -= taken;
    }
    return sum;
  }

  // The candidates after this one that make no triple of an earlier class with it and a member.
  [[nodiscard]] Residues compatible(const Residues& candidates, std::size_t chosen) const {
    Residues rest;
    for (std::size_t i = chosen + 1; i < candidates.size(); ++i) {
      const auto fits = [&](std::size_t member) {
        return classes_(member, candidates[chosen], candidates[i]) >= class_;
      };
      if (std::all_of(members_.begin(), members_.end() - 1, fits)) rest.push_back(candidates[i]);
    }
    return rest;
  }

  [[nodiscard]] Cover sorted() const {
    Cover cover(members_.begin(), members_.end());
    std::sort(cover.begin(), cover.end());
    return cover;
  }

  std::size_t n_, k_;
  std::uint64_t most_, tried_ = 0;
  TripleClasses classes_;
  std::uint8_t class_ = 0;
  std::vector<std::size_t> members_, fresh_;
  std::array<bool, most_residues> covered_{};
  bool gave_up_ = false;
};

// A set of k residues that may exchange one, and how often each difference occurs.
class Exchanging {
 public:
  Exchanging(std::size_t n, std::size_t k, Random& random) : n_(n), count_(n, 0), in_(n, false) {
    while (members_.size() < k) {
      const auto x = static_cast<std::size_t>(random.below(n));
      if (!in_[x]) members_.push_back(x);
      in_[x] = true;
    }
    for (auto a : members_)
      for (auto b : members_) ++count_[(a + n - b) % n];
    missing_ = std::count(count_.begin(), count_.end(), 0);
  }

  [[nodiscard]] const Cover& members() const { return members_; }
  [[nodiscard]] std::ptrdiff_t missing() const { return missing_; }
  [[nodiscard]] bool contains(std::size_t x) const { return in_[x]; }

  // Replaces the member at this place.
  void exchange(std::size_t place, std::size_t x) {
    count_differences(place, -1);
    in_[members_[place]] = false;
    members_[place] = x;
    in_[x] = true;
    count_differences(place, 1);
  }

 private:
  void count_differences(std::size_t place, int change) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (i == place) continue;
      for (auto d :
           {(members_[place] + n_ - members_[i]) % n_, (members_[i] + n_ - members_[place]) % n_}) {
        if (count_[d] == 0) --missing_;
        count_[d] += change;
        if (count_[d] == 0) ++missing_;
      }
    }
  }

  std::size_t n_;
  Cover members_;
  std::vector<int> count_;
  std::vector<bool> in_;
  std::ptrdiff_t missing_ = 0;
};

}  // namespace

CoverSearch search_cover(std::size_t n, std::size_t k, std::uint64_t most) {
  TURNO_ASSERT(k >= 2 && n < most_residues);
  if (n <= 3) {
    if (is_cover({0, 1}, n)) return {CoverSearch::Answer::found, {0, 1}, 1};
    return {};
  }
  if (k == 2) return {};
  return Exhaustive(n, k, most).run();
}

std::optional<Cover> anneal_cover(std::size_t n, std::size_t k, std::uint64_t exchanges,
                                  Random& random) {
  constexpr double hot = 2.0, cold = 0.25;
  double heat = hot;
  Exchanging set(n, k, random);
  for (std::uint64_t i = 0; i < exchanges && set.missing() > 0; ++i) {
    if (i % 256 == 0)
      heat = hot * std::pow(cold / hot, static_cast<double>(i) / static_cast<double>(exchanges));
    const auto place = static_cast<std::size_t>(random.below(k));
    const auto x = static_cast<std::size_t>(random.below(n));
    if (set.contains(x)) continue;
    const auto before = set.missing();
    const auto old = set.members()[place];
    set.exchange(place, x);
    const auto worse = static_cast<double>(set.missing() - before);
    if (worse > 0 && worse > heat * random.exponential()) set.exchange(place, old);
  }
  if (set.missing() > 0) return std::nullopt;
  return set.members();
}

Cover canonical_cover(const Cover& cover, std::size_t n) {
  Cover best;
  for (std::size_t factor = 1; factor <= n; ++factor) {
    if (std::gcd(factor, n) != 1) continue;
    for (auto first : cover) {
      Cover moved;
      for (auto x : cover) moved.push_back((x + n - first) % n * factor % n);
      std::sort(moved.begin(), moved.end());
      if (best.empty() || moved < best) best = moved;
    }
  }
  return best;
}

}  // namespace turno::protocols
