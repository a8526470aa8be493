// Chooses the inner loops for this machine.
#include "hot.hpp"

#include <cstdlib>
#include <cstring>

namespace tripletree {

namespace baseline {
extern const Hot table;
}
#ifdef TRIPLETREE_X86
namespace avx2 {
extern const Hot table;
}
namespace avx512 {
extern const Hot table;
}
#endif

static const Hot& choose() {
#ifdef TRIPLETREE_X86
    const char* wish = std::getenv("TRIPLETREE_ISA");
    auto wanted = [&](const char* name) { return !wish || std::strcmp(wish, name) == 0; };
    __builtin_cpu_init();
    if (wanted("avx512") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return avx512::table;
    if (wanted("avx2") && __builtin_cpu_supports("avx2")) return avx2::table;
#endif
    return baseline::table;
}

const Hot& hot = choose();

}  // namespace tripletree
