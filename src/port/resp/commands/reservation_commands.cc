// The commands for reservations: several resources of a store at once.
#include <array>

#include "port/resp/commands.h"

namespace turno::port {

namespace {

constexpr std::string_view how_to_say_it =
    "a resource is said as type, type:count or type:count/instances";

// "gpu", "gpu:2", "gpu:2/8": two of them, of which there are eight. Nothing: it is none, which has
// been written.
std::optional<Claim> claim_in(Connection& connection, std::string_view text) {
  auto& out = connection.reply();
  const auto number_after = [&](char mark,
                                std::uint32_t unless_said) -> std::optional<std::uint32_t> {
    const auto at = text.find(mark);
    if (at == std::string_view::npos) return unless_said;
    const auto value = number<std::uint32_t>(text.substr(at + 1));
    text = text.substr(0, at);
    if (value && *value >= 1 && *value <= cluster::most_instances) return value;
    return {};
  };
  const auto whole = std::string(text.substr(0, 64));
  const auto instances = number_after('/', 0);
  const auto count = number_after(':', 1);
  const bool strange = text.find_first_of(", \t\r\n") != std::string_view::npos;
  if (!instances || !count || strange) {
    out.error("ERR", "'" + whole + "': " + std::string(how_to_say_it) +
                         ", with numbers from 1 to " + std::to_string(cluster::most_instances));
    return {};
  }
  if (!good_name(connection, "type", text)) return {};
  return Claim{std::string(text), *count, *instances};
}

// What the file declares counts, in the store that is used unless another is named.
bool agrees_with_declaration(Connection& connection, Claim& claim) {
  const auto* declared = connection.host().declarations().resource(claim.type);
  if (declared == nullptr) return true;
  const auto said = claim.instances != 0 ? claim.instances : claim.count;
  if (claim.instances != 0 ? said != declared->instances : said > declared->instances) {
    connection.reply().error("ERR", "of '" + claim.type + "' there are declared to be " +
                                        std::to_string(declared->instances) + " (" +
                                        declared->where + "), not " + std::to_string(said));
    return false;
  }
  claim.instances = declared->instances;
  return true;
}

bool add_claim(Connection& connection, std::string_view text, std::vector<Claim>& claims) {
  auto claim = claim_in(connection, text);
  if (!claim) return false;
  const auto place =
      std::lower_bound(claims.begin(), claims.end(), *claim,
                       [](const Claim& a, const Claim& b) { return a.type < b.type; });
  const bool twice = place != claims.end() && place->type == claim->type;
  if (twice) connection.reply().error("ERR", "'" + claim->type + "' is given twice");
  if (!twice) claims.insert(place, *std::move(claim));
  return !twice;
}

void reserve(Connection& connection, Arguments arguments) {
  auto& out = connection.reply();
  Connection::Wanted wanted{.name = usual_store, .thing = Thing::store};
  WaitOptions options;
  bool has_store = false;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (same(arguments[i], "IN")) {
      if (std::exchange(has_store, true)) return out.error("ERR", "IN is given twice");
      wanted.name = ++i < arguments.size() ? arguments[i] : std::string_view();
      if (!good_name(connection, "store", wanted.name)) return;
      continue;
    }
    if (const auto taken = options.take(connection, arguments, i, wanted)) {
      if (!*taken) return;
    } else if (!add_claim(connection, arguments[i], wanted.claims)) {
      return;
    }
  }
  if (wanted.claims.empty())
    return out.error("ERR", "RESERVE needs resources: " + std::string(how_to_say_it));
  if (wanted.claims.size() > cluster::most_types)
    return out.error("ERR",
                     "a store has at most " + std::to_string(cluster::most_types) + " types");
  for (auto& claim : wanted.claims)
    if (wanted.name == usual_store && !agrees_with_declaration(connection, claim)) return;
  connection.lock(wanted);
}

// RETURN [fence] [IN store]: one reservation, or all of this session in the store.
void give_back(Connection& connection, Arguments arguments) {
  Fence fence;
  std::string_view store = usual_store;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (same(arguments[i], "IN") && i + 1 < arguments.size()) {
      store = arguments[++i];
      continue;
    }
    const auto given = fence_in(connection, arguments[i]);
    if (!given) return;
    fence = *given;
  }
  connection.reply().integer(
      static_cast<std::int64_t>(connection.session().give_back(Thing::store, store, fence)));
}

constexpr std::array all = {
    Command{"RESERVE", reserve, For::session, 2, 80,
            "RESERVE type[:count][/instances] ... [IN store] [TIMEOUT ms] [TTL ms] [ASYNC]",
            "turno", "Take several resources at once, waiting for all of them"},
    Command{"RETURN", give_back, For::session, 1, 4, "RETURN [fence] [IN store]", "turno",
            "Give the resources of a reservation back, or of all"},
};

}  // namespace

std::span<const Command> reservation_commands() { return all; }

}  // namespace turno::port
