// Where the nodes of a cluster can be reached: what the user gave, and what nodes told about the
// members since. In an order of its own, by chance, so that many clients spread over the nodes.
//
// Thread safety: as an int.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "net/address.h"
#include "wire/resp.h"

namespace turno::client {

// A member, as the answer to MEMBERS tells of it.
struct Member {
  std::uint64_t id = 0;  // of this start of the node; never used again
  std::string name;
  std::string client_address, client_socket;  // empty: it does not listen there
};

// Nothing if the answer is not a list of members, as that of an older node may be.
std::vector<Member> members_from(const wire::Reply& reply);

class Addresses {
 public:
  struct Known {
    net::Address address;
    bool given = false;  // by the user, who is believed
  };

  explicit Addresses(const std::vector<net::Address>& given, std::uint64_t seed);

  // To be tried one after another.
  [[nodiscard]] const std::vector<Known>& in_order() const { return all_; }
  // The user gives this one too. False: it is known.
  bool add(const net::Address& address);
  // The members are now these; heard of at `source`. Who came by a Unix socket is on the machine of
  // the nodes, and goes on by theirs if they are there.
  void learn(std::span<const Member> members, const net::Address& source);
  // It is tried last from now on.
  void postpone(const net::Address& address);

  // Whether those members belong to the cluster that was learned of. A TCP address of a member may
  // mean another node here than where the member said it (127.0.0.1), or after a while.
  [[nodiscard]] bool same_cluster(std::span<const Member> members) const;

 private:
  std::vector<Known> all_;
  std::vector<std::uint64_t> ids_;  // of the members
  std::minstd_rand random_;
};

}  // namespace turno::client
