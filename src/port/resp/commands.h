// The commands of the client port, and what they share. Each file has the commands of one kind.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "port/resp/connection.h"
#include "port/resp/lock_replies.h"

namespace turno::port {

using Arguments = Connection::Arguments;

// session: what it does, it does for the session for which the connection speaks. When that one is
// over it is not done, lest it be done in the name of another.
enum class For : std::uint8_t { session, anybody };

struct Command {
  std::string_view name;
  void (*run)(Connection&, Arguments);
  For whom;
  std::size_t least, most;  // arguments, with the name
  std::string_view usage;
  std::string_view group;  // as redis-cli shows it
  std::string_view summary;
};

inline constexpr std::size_t any_number = wire::RequestParser::max_arguments;

// By their kinds; looked through in this order.
std::span<const Command> lock_commands();
std::span<const Command> permit_commands();
std::span<const Command> election_commands();
std::span<const Command> room_commands();
std::span<const Command> reservation_commands();
std::span<const Command> deadlock_commands();
std::span<const Command> session_commands();
std::span<const Command> moving_commands();
std::span<const Command> redis_commands();
std::span<const Command> sentinel_commands();

// True: the session for which the connection spoke is over, and that has been written.
bool refuse_gone(Connection& connection);

// HELLO and AUTH with a session's id and secret are a JOIN. True: it speaks for that session now;
// false: why not has been written.
bool join_session(Connection& connection, std::string_view id, std::string_view secret);
// SESSION BEQUEATH node ticket, INHERIT, HELD.
void bequeath(Connection& connection, Arguments arguments);
void inherit(Connection& connection, Arguments arguments);
void held(Connection& connection, Arguments arguments);
// What INFO answers.
std::string info_text(Connection& connection, Arguments sections);

// What LOCK, PERMIT and the like have in common. False: what is wrong has been written.
bool good_name(Connection& connection, std::string_view thing, std::string_view name);
std::optional<Fence> fence_in(Connection& connection, std::string_view text);
// Asks all members who holds and who waits, of one kind if it is said, else of the first kind that
// is found, and writes the answer when they have answered or had their time.
using WriteFindings = void (*)(wire::ReplyWriter&, std::string_view name, const Findings&);
void ask(Connection& connection, std::string_view name, std::optional<Thing> thing,
         WriteFindings write);
// LOCK, SEMAPHORE and so on. Nothing: it is none of them, which has been written.
std::optional<Thing> thing_in(Connection& connection, std::string_view text);
// Takes the option at `i`, and its value: TIMEOUT ms, TTL ms or ASYNC, each once.
struct WaitOptions {
  bool has_timeout = false, has_ttl = false;
  // Nothing: it is none of these. False: it is wrong, which has been written.
  std::optional<bool> take(Connection& connection, Arguments arguments, std::size_t& i,
                           Connection::Wanted& wanted);
};

inline bool same(std::string_view text, std::string_view capitals) {
  return text.size() == capitals.size() &&
         std::equal(text.begin(), text.end(), capitals.begin(), [](char a, char b) {
           return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 32) : a) == b;
         });
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// Of at most a year.
inline std::optional<std::chrono::milliseconds> milliseconds(std::string_view text) {
  constexpr std::uint64_t longest = std::uint64_t{1000} * 3600 * 24 * 365;
  const auto value = number<std::uint64_t>(text);
  if (!value || *value > longest) return {};
  return std::chrono::milliseconds(*value);
}

}  // namespace turno::port
