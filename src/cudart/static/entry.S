# What an island's entry jumps to. %r11 holds the IslandEntry; nothing else may change but what any call may.

# The first call: look for the function, then go on there, with the arguments of the call.
        .text
        .hidden static_lazy
        .globl  static_lazy
        .type   static_lazy, @function
static_lazy:
        push    %rbp
        mov     %rsp, %rbp
        sub     $192, %rsp
        and     $-16, %rsp
        mov     %rax, 0(%rsp)
        mov     %rdi, 8(%rsp)
        mov     %rsi, 16(%rsp)
        mov     %rdx, 24(%rsp)
        mov     %rcx, 32(%rsp)
        mov     %r8, 40(%rsp)
        mov     %r9, 48(%rsp)
        movups  %xmm0, 64(%rsp)
        movups  %xmm1, 80(%rsp)
        movups  %xmm2, 96(%rsp)
        movups  %xmm3, 112(%rsp)
        movups  %xmm4, 128(%rsp)
        movups  %xmm5, 144(%rsp)
        movups  %xmm6, 160(%rsp)
        movups  %xmm7, 176(%rsp)
        mov     %r11, 56(%rsp)
        mov     %r11, %rdi
        call    static_resolve
        mov     56(%rsp), %r11
        mov     %rax, %r10
        mov     0(%rsp), %rax
        mov     8(%rsp), %rdi
        mov     16(%rsp), %rsi
        mov     24(%rsp), %rdx
        mov     32(%rsp), %rcx
        mov     40(%rsp), %r8
        mov     48(%rsp), %r9
        movups  64(%rsp), %xmm0
        movups  80(%rsp), %xmm1
        movups  96(%rsp), %xmm2
        movups  112(%rsp), %xmm3
        movups  128(%rsp), %xmm4
        movups  144(%rsp), %xmm5
        movups  160(%rsp), %xmm6
        movups  176(%rsp), %xmm7
        leave
        jmp     *%r10
        .size   static_lazy, . - static_lazy

# A function that the library does not have: its refuse(name) instead.
        .hidden static_refuse
        .globl  static_refuse
        .type   static_refuse, @function
static_refuse:
        mov     16(%r11), %rdi
        mov     24(%r11), %r11
        jmp     *16(%r11)
        .size   static_refuse, . - static_refuse

        .section .note.GNU-stack, "", @progbits
