#include "registry/etcd/base64.h"

#include <gtest/gtest.h>

#include <string>

#include "core/random.h"

namespace turno::registry {
namespace {

TEST(Base64, HasTheWordsOfTheStandard) {
  const std::pair<std::string, std::string> words[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"},
                                                       {"\xff\xfe", "//4="}};
  for (const auto& [bytes, text] : words) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, BringsBackWhateverItIs) {
  Random random(1);
  for (int round = 0; round < 1000; ++round) {
    std::string bytes;
    for (auto size = random.below(50); size > 0; --size)
      bytes += static_cast<char>(random.below(256));
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
}

TEST(Base64, IsNotAnything) {
  for (const auto* text : {"a", "abc", "ab=c", "a===", "====", "ab c", "a\nbc", "ab-_"})
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace turno::registry
