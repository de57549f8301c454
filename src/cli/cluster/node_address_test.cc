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

TEST_F(NodeAddress, IsThatOfALiveMember) {
  registry::EmbeddedRegistry registry(folder_.path());
  auto self = registry::member_named("n");
  self.client_address = "127.0.0.1:7";
  self.client_socket = "unix:/n.sock";
  ASSERT_TRUE(registry.join(self, registry::running("nxr")));
  EXPECT_EQ(node_address("", folder_.path()), "unix:/n.sock");
  ::setenv("TURNO_DIR", folder_.path().c_str(), 1);
  EXPECT_EQ(node_address("", ""), "unix:/n.sock");
  ASSERT_TRUE(registry.leave());
  EXPECT_FALSE(node_address("", ""));
}

TEST_F(NodeAddress, OptionsAreMoreThanTheEnvironment) {
  ::setenv("TURNO_NODE_ADDRESS", "somewhere:1", 1);
  EXPECT_EQ(node_address("elsewhere:2", folder_.path()), "elsewhere:2");
  EXPECT_EQ(node_address("", ""), "somewhere:1");
  EXPECT_FALSE(node_address("", folder_.path())) << "the directory was asked for";
  ::setenv("TURNO_DIR", folder_.path().c_str(), 1);
  EXPECT_EQ(node_address("", folder_.path()), "somewhere:1") << "it came from the environment too";
}

TEST_F(NodeAddress, IfThereIsNoneSaysWhatToDo) {
  const auto address = node_address("", folder_.path());
  ASSERT_FALSE(address);
  EXPECT_THAT(address.error().message,
              AllOf(HasSubstr("no node runs in " + folder_.path().string()),
                    HasSubstr("up --dir " + folder_.path().string()), HasSubstr("--node")));
}

}  // namespace
}  // namespace turno::cli
