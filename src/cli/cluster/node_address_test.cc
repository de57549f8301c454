#include "cli/cluster/node_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "registry/embedded/embedded_registry.h"
#include "registry/registry_testing.h"

namespace turno::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class NodeAddress : public ::testing::Test {
 protected:
  NodeAddress() { forget(); }
  ~NodeAddress() override { forget(); }
  static void forget() {
    ::unsetenv("TURNO_NODE_ADDRESS");
    ::unsetenv("TURNO_DIR");
  }
  const registry::TemporaryDirectory folder_;
};

using Texts = std::vector<std::string>;

TEST_F(NodeAddress, IsThatOfALiveMember) {
  registry::EmbeddedRegistry registry(folder_.path());
  auto self = registry::member_named("n");
  self.client_address = "127.0.0.1:7";
  self.client_socket = "/n.sock";
  ASSERT_TRUE(registry.join(self, registry::running("nxr")));
  EXPECT_EQ(node_addresses({}, folder_.path()), Texts{"/n.sock"});
  ::setenv("TURNO_DIR", folder_.path().c_str(), 1);
  EXPECT_EQ(node_addresses({}, ""), Texts{"/n.sock"});
  ASSERT_TRUE(registry.leave());
  EXPECT_FALSE(node_addresses({}, ""));
}

TEST_F(NodeAddress, OptionsAreMoreThanTheEnvironment) {
  ::setenv("TURNO_NODE_ADDRESS", "somewhere:1, unix:/there,", 1);
  EXPECT_EQ(node_addresses({"a:2", "b:3"}, folder_.path()), (Texts{"a:2", "b:3"}));
  EXPECT_EQ(node_addresses({}, ""), (Texts{"somewhere:1", "unix:/there"}));
  EXPECT_FALSE(node_addresses({}, folder_.path())) << "the directory was asked for";
  ::setenv("TURNO_DIR", folder_.path().c_str(), 1);
  EXPECT_FALSE(node_addresses({}, folder_.path()))
      << "asked for, though the environment says so too";
  EXPECT_EQ(node_addresses({}, "")->size(), 2U);
}

TEST_F(NodeAddress, IfThereIsNoneSaysWhatToDo) {
  const auto address = node_addresses({}, folder_.path());
  ASSERT_FALSE(address);
  EXPECT_THAT(address.error().message,
              AllOf(HasSubstr("no node runs in " + folder_.path().string()),
                    HasSubstr("up --dir " + folder_.path().string()), HasSubstr("--node")));
}

}  // namespace
}  // namespace turno::cli
