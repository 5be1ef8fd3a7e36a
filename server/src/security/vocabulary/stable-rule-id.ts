/** The top directories of Semgrep's registry of rules. */
const REGISTRY_DIRECTORIES = new Set(
  `ai apex bash c clojure csharp dockerfile elixir generic go html java javascript json kotlin ocaml php
  problem-based-packs python ruby rust scala solidity swift terraform typescript yaml`.split(/\s+/),
)
const REGISTRY = 'semgrep-rules'

/**
 * The part of a rule id that is the same on every machine. Semgrep puts the directory of a local
 * rule before its name, from the directory where it ran:
 * `home.ci.semgrep-rules.python.lang.security.exec-detected`. Rules from the registry repeat the
 * name of their file, as in `exec-detected.exec-detected`.
 */
export function stableRuleId(ruleId: string): string {
  if (!ruleId.includes('.') || /[/:\s]/.test(ruleId)) return ruleId
  const parts = ruleId.split('.')
  const from = parts.indexOf(REGISTRY) + 1 || parts.findIndex((part) => REGISTRY_DIRECTORIES.has(part))
  if (from < 0 || parts.length - from < 3) return ruleId
  const stable = parts.slice(from)
  return stable.at(-1) === stable.at(-2) ? stable.slice(0, -1).join('.') : stable.join('.')
}
