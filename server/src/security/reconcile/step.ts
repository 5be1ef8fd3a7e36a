declare const step: unique symbol

/**
 * Marks the result of a step of the reconciliation. The steps share temporary tables, so their
 * order matters: each step takes the result of the step before it, and only its own function makes
 * that result. A wrong order does not compile.
 *
 * `openIncoming` → `pairReport` → `groupReport` → `writeFindings` → `recordReport` →
 * `refreshReported`
 */
export type After<Step extends string> = { readonly [step]: Step }
