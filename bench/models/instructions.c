/* A plugin for QEMU: counts the instructions that an emulated program runs, and logs those since the last line that it wrote to its
 * standard output. QEMU exports these functions to plugins; Debian has no package with the header that declares them. */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifndef VERSION
#define VERSION 1 /* of the interface: QEMU 7 and 8; newer ones want a newer number, and the same functions */
#endif

typedef uint64_t plugin;
typedef struct block block;

size_t qemu_plugin_tb_n_insns(const block *);
void qemu_plugin_outs(const char *);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin, void (*)(plugin, block *));
void qemu_plugin_register_vcpu_tb_exec_cb(block *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_vcpu_syscall_cb(plugin, void (*)(plugin, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                                           uint64_t, uint64_t, uint64_t, uint64_t));

enum { READS_NO_REGISTERS = 0, WRITE = 64 /* on 64-bit ARM */, STANDARD_OUTPUT = 1 };

int qemu_plugin_version = VERSION;

/* Of all threads. */
static uint64_t count;

static void run(unsigned processor, void *instructions)
{
    (void)processor;
    __atomic_fetch_add(&count, (uint64_t)(uintptr_t)instructions, __ATOMIC_RELAXED);
}

static void translated(plugin self, block *block)
{
    (void)self;
    qemu_plugin_register_vcpu_tb_exec_cb(block, run, READS_NO_REGISTERS, (void *)qemu_plugin_tb_n_insns(block));
}

static void called(plugin self, unsigned processor, int64_t number, uint64_t file, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                   uint64_t f, uint64_t g, uint64_t h)
{
    char line[32];
    (void)self, (void)processor, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    if (number != WRITE || file != STANDARD_OUTPUT)
        return;
    snprintf(line, sizeof line, "%" PRIu64 "\n", __atomic_exchange_n(&count, 0, __ATOMIC_RELAXED));
    qemu_plugin_outs(line);
}

int qemu_plugin_install(plugin self, const void *machine, int arguments, char **values)
{
    (void)machine, (void)arguments, (void)values;
    qemu_plugin_register_vcpu_tb_trans_cb(self, translated);
    qemu_plugin_register_vcpu_syscall_cb(self, called);
    return 0;
}
