#include "cli/cluster/member_output.h"

#include "cli/frame/readable.h"
#include "cli/frame/table.h"

namespace turno::cli {

std::string members_table(const std::vector<cluster::Member>& members) {
  Table table({"node", "pid", "clients (RESP)", "HTTP", "Unix socket (RESP)"});
  const auto cell = [](const std::string& text) { return text.empty() ? "-" : printable(text); };
  for (const auto& member : members)
    table.add({cell(member.name), std::to_string(member.pid), cell(member.client_address),
               cell(member.http_address), cell(member.client_socket)});
  return table.text();
}

Json member_json(const cluster::Member& member) {
  return Json()
      .add("name", printable(member.name))
      .add("id", std::to_string(member.id))
      .add("pid", member.pid)
      .add("client", printable(member.client_address))
      .add("socket", printable(member.client_socket))
      .add("http", printable(member.http_address))
      .add("peer", printable(member.peer_address));
}

}  // namespace turno::cli
