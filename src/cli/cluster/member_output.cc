#include "cli/cluster/member_output.h"

#include <string_view>

#include "cli/frame/readable.h"
#include "cli/frame/table.h"

namespace turno::cli {

std::string socket_path(const cluster::Member& member) {
  constexpr std::string_view scheme = "unix:";
  const std::string_view socket = member.client_socket;
  return std::string(socket.starts_with(scheme) ? socket.substr(scheme.size()) : socket);
}

std::string members_table(const std::vector<cluster::Member>& members) {
  Table table({"node", "pid", "clients (RESP)", "HTTP", "Unix socket (RESP)"});
  const auto cell = [](const std::string& text) { return text.empty() ? "-" : printable(text); };
  for (const auto& member : members)
    table.add({cell(member.name), std::to_string(member.pid), cell(member.client_address),
               cell(member.http_address), cell(socket_path(member))});
  return table.text();
}

Json member_json(const cluster::Member& member) {
  return Json()
      .add("name", printable(member.name))
      .add("id", std::to_string(member.id))
      .add("pid", member.pid)
      .add("client", printable(member.client_address))
      .add("socket", printable(socket_path(member)))
      .add("http", printable(member.http_address))
      .add("peer", printable(member.peer_address));
}

}  // namespace turno::cli
