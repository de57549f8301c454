#include "registry/etcd/etcd_registry.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <thread>
#include <utility>

#include "registry/admission.h"
#include "registry/etcd/base64.h"
#include "registry/etcd/view_text.h"

namespace turno::registry {

namespace json = boost::json;
using Kind = Error::Kind;
using namespace std::chrono_literals;

namespace {

constexpr int most_tries = 8;             // of a change, against others who change it
constexpr std::int64_t no_revision = -1;  // of any view
constexpr auto pause_of_joiner = 200ms;   // until it looks again
constexpr auto pause_after_trouble = 200ms;
constexpr std::string_view roll_directory = "member/", past_roll = "member0";

tl::unexpected<Error> failure(Kind kind, std::string message) {
  return tl::unexpected(Error{kind, std::move(message)});
}

std::string list_of(const std::vector<std::string>& elements) { return json_array(elements); }

Json key_of(std::string_view key) { return Json().add("key", to_base64(key)); }

// The operations of a transaction.
std::string put(std::string_view key, std::string_view value, std::int64_t lease = 0) {
  auto body = key_of(key).add("value", to_base64(value));
  if (lease != 0) body.add("lease", std::to_string(lease));
  return Json().add("request_put", body).text();
}
std::string range(std::string_view key) { return Json().add("request_range", key_of(key)).text(); }
std::string remove(std::string_view key) {
  return Json().add("request_delete_range", key_of(key)).text();
}

// etcd writes 64-bit numbers as text, and leaves out those that are 0.
std::int64_t number_at(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(json::string_view(name.data(), name.size()));
  if (value == nullptr) return 0;
  if (value->is_int64()) return value->as_int64();
  return std::stoll(value->as_string().c_str());
}
// Of all views that any registry ever writes, this one.
std::string stamp_of(const View& view) { return fmt::format("{} {}", view.key, view.epoch); }

std::string bytes_at(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(json::string_view(name.data(), name.size()));
  if (value == nullptr) return {};
  const auto& text = value->as_string();
  auto bytes = from_base64({text.data(), text.size()});
  if (!bytes) throw std::invalid_argument("it has a key or a value that is no base64");
  return *std::move(bytes);
}

}  // namespace

EtcdRegistry::EtcdRegistry(EtcdAccess access, std::string cluster, EtcdTimes times, WallClock clock)
    : prefix_("/turno/" + std::move(cluster) + "/"),
      times_(times),
      clock_(clock),
      gateway_(std::move(access)) {}

std::string EtcdRegistry::member_key(std::uint64_t id) const {
  return fmt::format("{}{}{}", prefix_, roll_directory, id);
}

tl::unexpected<Error> EtcdRegistry::unavailable(const Gateway::Trouble& trouble) const {
  return failure(Kind::unavailable, fmt::format("etcd: {}", trouble.message));
}

tl::unexpected<Error> EtcdRegistry::lost(std::string_view how) const {
  return failure(Kind::lost, fmt::format("etcd, {}: {} while this node was a member; others may be "
                                         "granted its locks, so it must be started again",
                                         prefix_, how));
}

// ---- transactions

// Revisions begin again if etcd's data are lost or restored, so they alone do not tell one view
// from another.
std::string EtcdRegistry::is_still(std::int64_t revision) const {
  const auto compare = [](std::string_view key, std::string_view target) {
    return key_of(key).add("result", "EQUAL").add("target", target);
  };
  if (revision == 0) return list_of({compare(view_key(), "VERSION").add("version", "0").text()});
  std::vector<std::string> all = {
      compare(view_key(), "MOD").add("mod_revision", std::to_string(revision)).text()};
  if (seen_)
    all.push_back(compare(stamp_key(), "VALUE").add("value", to_base64(stamp_of(*seen_))).text());
  return list_of(all);
}

Expected<EtcdRegistry::Sight> EtcdRegistry::transact(const std::string& comparisons,
                                                     const std::vector<std::string>& then,
                                                     const std::vector<std::string>& otherwise) {
  asked_ = boot_clock();
  const auto answer = gateway_.post("kv/txn", Json()
                                                  .add_raw("compare", comparisons)
                                                  .add_raw("success", list_of(then))
                                                  .add_raw("failure", list_of(otherwise)));
  if (!answer) return unavailable(answer.error());
  return read_sight(*answer);
}

Expected<EtcdRegistry::Sight> EtcdRegistry::read_sight(const Gateway::Answer& answer) {
  Sight sight{.sent = answer.sent};
  try {
    const auto& header = answer.body.at("header").as_object();
    if (auto known = recognise(header); !known) return tl::unexpected(known.error());
    sight.now = number_at(header, "revision");
    if (const auto* succeeded = answer.body.if_contains("succeeded"))
      sight.as_expected = succeeded->as_bool();
    for (const auto& each : answer.body.at("responses").as_array()) {
      const auto* range = each.as_object().if_contains("response_range");
      if (range == nullptr) continue;
      const auto* found = range->as_object().if_contains("kvs");
      const auto pairs = found == nullptr ? json::array() : found->as_array();
      for (const auto& pair : pairs) {
        const auto key = bytes_at(pair.as_object(), "key");
        if (key != view_key()) {
          // Somebody else's keys are nobody's membership.
          const auto digits = std::string_view(key).substr(prefix_.size() + roll_directory.size());
          std::uint64_t member = 0;
          const auto* last = digits.data() + digits.size();
          const auto [end, error] = std::from_chars(digits.data(), last, member);
          if (error == std::errc() && end == last) sight.roll.push_back(member);
          continue;
        }
        auto view = view_from_text(bytes_at(pair.as_object(), "value"));
        if (!view)
          return failure(Kind::damaged,
                         fmt::format("etcd, {}: {}", view_key(), view.error().message));
        sight.view = *std::move(view);
        sight.revision = number_at(pair.as_object(), "mod_revision");
      }
    }
  } catch (const std::exception& error) {
    return failure(Kind::unavailable,
                   fmt::format("etcd's answer makes no sense: {}", error.what()));
  }
  return sight;
}

Expected<void> EtcdRegistry::recognise(const json::object& header) {
  const auto& number = header.at("cluster_id").as_string();
  if (etcd_.empty()) etcd_ = number.c_str();
  if (etcd_ == number.c_str()) return {};
  if (self_) return lost("another etcd cluster answers there now");
  etcd_ = number.c_str();
  return {};
}

// The deletion of what is never there makes it a write, which goes through the log; yet it writes
// nothing, so that etcd's history does not grow.
Expected<EtcdRegistry::Sight> EtcdRegistry::prove(std::int64_t revision) {
  const auto nothing = remove(prefix_ + "none");
  const auto roll =
      Json()
          .add("request_range", key_of(prefix_ + std::string(roll_directory))
                                    .add("range_end", to_base64(prefix_ + std::string(past_roll)))
                                    .add("keys_only", true))
          .text();
  return transact(is_still(revision), {nothing, roll}, {nothing, range(view_key()), roll});
}

Expected<EtcdRegistry::Sight> EtcdRegistry::replace(std::int64_t revision, const View& next,
                                                    const std::vector<std::string>& besides) {
  auto operations = besides;
  operations.push_back(put(view_key(), to_text(next)));
  operations.push_back(put(stamp_key(), stamp_of(next)));
  auto sight = transact(is_still(revision), operations, {range(view_key())});
  if (sight && sight->as_expected) {
    sight->view = next;
    sight->revision = sight->now;
  }
  return sight;
}

// ---- what was seen

// What was seen while this is a member: perhaps that it is none any more.
Expected<View> EtcdRegistry::take(const Sight& sight) {
  if (!sight.as_expected || sight.view) {
    if (!sight.view) return lost("its view was removed");
    const auto& view = *sight.view;
    if (view.key != seen_->key) return lost("it belongs to another cluster: it was replaced");
    if (view.epoch < seen_->epoch)
      return lost(fmt::format("it went back from view {} to view {}", seen_->epoch, view.epoch));
    if (view.epoch == seen_->epoch && view != *seen_)
      return lost(fmt::format("it has another view {} than before", view.epoch));
    seen_ = view;
    revision_ = sight.revision;
  }
  if (seen_->find(*self_) == nullptr) return lost("it dropped this node from the members");
  proved_ = std::max(proved_, sight.sent);
  return *seen_;
}

void EtcdRegistry::note_roll(const Sight& sight, const View& view) {
  const auto now = boot_clock();
  std::map<std::uint64_t, Nanoseconds> missed;
  for (const auto& member : view.members) {
    if (std::ranges::find(sight.roll, member.id) != sight.roll.end()) continue;
    const auto before = missed_since_.find(member.id);
    missed[member.id] = before == missed_since_.end() ? now : before->second;
  }
  missed_since_ = std::move(missed);
}

bool EtcdRegistry::seems_dead(std::uint64_t id, const View& view, Nanoseconds now) const {
  if (id == self_) return false;
  const auto missed = missed_since_.find(id);
  if (missed == missed_since_.end()) return false;
  // Not all at once: those before this member in the view, if they live, have done it then.
  std::size_t before = 0;
  for (const auto& member : view.members) {
    if (member.id == self_) break;
    if (!missed_since_.contains(member.id)) ++before;
  }
  const auto turns = self_ ? before : 0;
  return now - missed->second >= times_.grace + times_.turn * static_cast<int>(turns);
}

std::vector<Member> EtcdRegistry::bury(View& view) const {
  const auto now = boot_clock();
  std::vector<Member> dead;
  for (const auto& member : view.members)
    if (seems_dead(member.id, view, now)) dead.push_back(member);
  std::erase_if(view.members, [&](const Member& member) {
    return std::ranges::find(dead, member.id, &Member::id) != dead.end();
  });
  return dead;
}

Expected<void> EtcdRegistry::advance(const View& view, bool founds, const std::vector<Member>& dead,
                                     View& next) const {
  if (auto numbered = number(view, founds, clock_(), next); !numbered) return numbered;
  next.crash_moment.reset();  // it would be of another machine's clock
  note_casualties(dead, system_clock(), next);
  if (next.crashed) next.last_unproven = next.epoch;
  return {};
}

// ---- leases

Expected<void> EtcdRegistry::get_lease() {
  const auto seconds = std::max<std::int64_t>(times_.lease / 1s, 1);
  const auto answer = gateway_.post("lease/grant", Json().add("TTL", std::to_string(seconds)));
  if (!answer) return unavailable(answer.error());
  try {
    lease_ = number_at(answer->body, "ID");
  } catch (const std::exception&) {
    lease_ = 0;
  }
  if (lease_ == 0) return failure(Kind::unavailable, "etcd gave no lease");
  return {};
}

std::string EtcdRegistry::put_own_key() const { return put(member_key(*self_), "here", lease_); }

Expected<void> EtcdRegistry::keep_alive(bool key_is_there) {
  const auto answer = gateway_.post("lease/keepalive", Json().add("ID", std::to_string(lease_)));
  if (!answer) return unavailable(answer.error());
  const auto* result = answer->body.if_contains("result");
  const bool lives =
      result != nullptr && result->is_object() && result->as_object().if_contains("TTL") != nullptr;
  if (lives && key_is_there) return {};
  if (auto got = get_lease(); !got) return got;
  // Only of a member: should it be none any more, its next proof says so.
  const auto mended = transact(is_still(revision_), {put_own_key()}, {range(view_key())});
  if (!mended) return tl::unexpected(mended.error());
  return {};
}

// ---- the registry

Expected<View> EtcdRegistry::join(const Member& self, const Settings& wanted) {
  const std::lock_guard guard(mutex_);
  if (self_) return failure(Kind::refused, "this node has already joined");
  if (auto fine = check_candidate(self, wanted); !fine) return tl::unexpected(fine.error());
  const auto begin = boot_clock();
  for (;;) {
    auto again = Again::no;
    auto joined = try_to_join(self, wanted, again);
    const auto patience =
        again == Again::until_named ? 2 * times_.lease + times_.grace : times_.to_join;
    if (joined || again == Again::no || boot_clock() - begin >= patience) return joined;
    std::this_thread::sleep_for(pause_of_joiner);
  }
}

// An answer that did not come may mean that this member is in the view; then it is found there.
Expected<View> EtcdRegistry::try_to_join(const Member& self, const Settings& wanted, Again& again) {
  seen_.reset();  // of an earlier look, or of an earlier try
  again = Again::yes;
  if (lease_ == 0)
    if (auto got = get_lease(); !got) return tl::unexpected(got.error());
  auto sight = prove(no_revision);
  if (!sight) {
    if (sight.error().kind != Kind::unavailable) again = Again::no;
    return tl::unexpected(sight.error());
  }
  auto view = sight->view.value_or(View{});
  note_roll(*sight, view);
  if (view.find(self.id) == nullptr) {
    auto next = view;
    const auto dead = bury(next);
    const bool founds = next.members.empty();
    if (auto admitted = admit(self, wanted, next); !admitted) {
      // Its name is soon free if it is that of one who died.
      again = next.find(self.name) != nullptr ? Again::until_named : Again::no;
      return tl::unexpected(admitted.error());
    }
    if (founds) next.authority_ms = times_.authority.count();
    if (auto numbered = advance(view, founds, dead, next); !numbered) {
      again = Again::no;
      return tl::unexpected(numbered.error());
    }
    if (sight->view) seen_ = view;
    sight = replace(sight->revision, next, {put(member_key(self.id), "here", lease_)});
    if (!sight) {
      // Perhaps because the lease has ended.
      lease_ = 0;
      return tl::unexpected(sight.error());
    }
    if (!sight->as_expected) return failure(Kind::unavailable, "etcd: others join all the time");
    view = next;
  }
  self_ = self.id;
  seen_ = view;
  revision_ = sight->revision;
  proved_ = sight->sent;
  return view;
}

Expected<View> EtcdRegistry::current() {
  const std::lock_guard guard(mutex_);
  if (!self_) {
    const auto sight = prove(no_revision);
    if (!sight) return tl::unexpected(sight.error());
    if (!sight->view || sight->view->members.empty())
      return failure(Kind::absent, fmt::format("etcd, {}: there is no cluster", prefix_));
    seen_ = sight->view;
    note_roll(*sight, *seen_);
    return *seen_;
  }
  const auto now = boot_clock();
  const bool in_trouble = asked_ > proved_;
  const auto pause = in_trouble ? Nanoseconds(pause_after_trouble) : Nanoseconds(times_.beat);
  if (!std::exchange(look_again_, false) && now - asked_ < pause) return *seen_;
  const auto sight = prove(revision_);
  if (!sight) return tl::unexpected(sight.error());
  auto view = take(*sight);
  if (!view) return view;
  note_roll(*sight, *view);
  if (auto kept = keep_alive(!missed_since_.contains(*self_));
      !kept && kept.error().kind == Kind::lost)
    return tl::unexpected(kept.error());
  return view;
}

Expected<View> EtcdRegistry::reconsider(bool bump) {
  const std::lock_guard guard(mutex_);
  if (!self_) return failure(Kind::refused, "only a member makes views");
  for (int tries = 0; tries < most_tries; ++tries) {
    auto next = *seen_;
    const auto dead = bury(next);
    if (dead.empty() && !bump) return *seen_;
    const auto old_epoch = seen_->epoch;
    if (auto numbered = advance(*seen_, false, dead, next); !numbered)
      return tl::unexpected(numbered.error());
    std::vector<std::string> besides;
    besides.reserve(dead.size());
    for (const auto& member : dead) besides.push_back(remove(member_key(member.id)));
    const auto sight = replace(revision_, next, besides);
    if (!sight) return tl::unexpected(sight.error());
    auto view = take(*sight);
    if (!view || sight->as_expected) return view;
    if (view->epoch > old_epoch) bump = false;  // others have made a new epoch
  }
  return failure(Kind::unavailable, "etcd: others change the view all the time");
}

Expected<void> EtcdRegistry::leave() {
  const std::lock_guard guard(mutex_);
  if (!self_) return {};
  for (int tries = 0; tries < most_tries; ++tries) {
    auto next = *seen_;
    std::erase_if(next.members, [&](const Member& member) { return member.id == *self_; });
    if (auto numbered = advance(*seen_, false, {}, next); !numbered)
      return tl::unexpected(numbered.error());
    const auto sight = replace(revision_, next, {remove(member_key(*self_))});
    if (!sight) return tl::unexpected(sight.error());
    if (!sight->as_expected) {
      const auto view = take(*sight);
      if (view) continue;
      if (view.error().kind != Kind::lost) return tl::unexpected(view.error());
    }
    self_.reset();
    proved_ = {};
    static_cast<void>(
        gateway_.post("lease/revoke", Json().add("ID", std::to_string(std::exchange(lease_, 0)))));
    return {};
  }
  return failure(Kind::unavailable, "etcd: others change the view all the time");
}

bool EtcdRegistry::is_dead(std::uint64_t id) {
  const std::lock_guard guard(mutex_);
  return seen_ && seen_->find(id) != nullptr && seems_dead(id, *seen_, boot_clock());
}

std::chrono::nanoseconds EtcdRegistry::authority_until() const {
  const std::lock_guard guard(mutex_);
  if (!self_) return {};
  return proved_ + std::chrono::milliseconds(seen_->authority_ms);
}

void EtcdRegistry::look_again() {
  const std::lock_guard guard(mutex_);
  look_again_ = true;
}

}  // namespace turno::registry
