import { indexOf, type JsonObject, objectOf, textOf } from './json-value.ts'
import { scoreOf } from './severity.ts'

/** What a result inherits from its rule (reportingDescriptor, §3.49). */
type SarifRule = {
  id: string | null
  guid: string | null
  level: string | null
  score: number | null
  hasText: boolean
}

const HIERARCHY_STEPS_MAX = 10

/** The rules of the driver or of an extension (toolComponent, §3.19). */
export class SarifComponent {
  name: string | null = null
  guid: string | null = null
  /** Sparse: a rule that is not an object has no entry. */
  readonly rules: SarifRule[] = []
  readonly #byId = new Map<string, SarifRule>()

  add(index: number, value: unknown): void {
    const rule = objectOf(value)
    if (rule === null) return
    const score = objectOf(rule.properties)?.['security-severity']
    const read: SarifRule = {
      id: textOf(rule.id),
      guid: guidOf(rule.guid),
      level: textOf(objectOf(rule.defaultConfiguration)?.level),
      score: scoreOf(score),
      hasText: [rule.shortDescription, rule.fullDescription].some((text) => textOf(objectOf(text)?.text) !== null),
    }
    this.rules[index] = read
    if (read.id !== null && !this.#byId.has(read.id)) this.#byId.set(read.id, read)
  }

  byId(id: string): SarifRule | undefined {
    return this.#byId.get(id)
  }

  byGuid(guid: string): SarifRule | undefined {
    return this.rules.find((rule) => rule?.guid === guid)
  }
}

/** The rules of a run, and the levels that its invocations set for them (§3.20.5). */
export class SarifRules {
  readonly driver = new SarifComponent()
  readonly extensions: SarifComponent[] = []
  readonly #overrides: { invocation: number; reference: JsonObject; level: string }[] = []

  addOverride(invocation: number, value: unknown): void {
    const override = objectOf(value)
    const level = textOf(objectOf(override?.configuration)?.level)
    const reference = objectOf(override?.descriptor)
    if (level !== null && reference !== null) this.#overrides.push({ invocation, reference, level })
  }

  /** The level that an invocation sets for a rule; of several, the last. */
  overriddenLevel(invocation: number, rule: SarifRule): string | null {
    const override = this.#overrides.findLast(
      (candidate) => candidate.invocation === invocation && this.#find(candidate.reference) === rule,
    )
    return override?.level ?? null
  }

  /** The rule of a result: `rule`, else `ruleId` and `ruleIndex` (§3.27.5 to §3.27.7). */
  ofResult(result: JsonObject): SarifRule | undefined {
    const rule = objectOf(result.rule)
    return this.#find({
      ...rule,
      id: textOf(rule?.id) ?? result.ruleId,
      index: indexOf(rule?.index) ?? result.ruleIndex,
    })
  }

  /** If id and index disagree, a rule with the id counts before the rule at the index. */
  #find(reference: JsonObject): SarifRule | undefined {
    const id = textOf(reference.id)
    const guid = guidOf(reference.guid)
    const home = this.#componentOf(objectOf(reference.toolComponent)) ?? this.driver
    const index = indexOf(reference.index)
    const indexed = index === null ? undefined : home.rules[index]
    if (id === null && guid === null) return indexed
    if (indexed !== undefined && ((guid !== null && indexed.guid === guid) || isOfRule(id, indexed.id))) return indexed
    const components = [home, this.driver, ...this.extensions]
    return (
      (guid === null ? undefined : firstOf(components, (component) => component.byGuid(guid))) ??
      byId(components, id) ??
      indexed
    )
  }

  /** Finds an extension by index, else by guid, else by name (toolComponentReference, §3.54). */
  #componentOf(reference: JsonObject | null): SarifComponent | undefined {
    if (reference === null) return undefined
    const index = indexOf(reference.index)
    if (index !== null) return this.extensions[index]
    const guid = guidOf(reference.guid)
    return this.extensions.find((component) =>
      guid === null ? component.name === textOf(reference.name) : component.guid === guid,
    )
  }
}

function guidOf(value: unknown): string | null {
  return textOf(value)?.toLowerCase() ?? null
}

/** True for the id of the rule, and for an id below it like `CA1000/1` (§3.27.5). */
function isOfRule(id: string | null, ruleId: string | null): boolean {
  return id !== null && ruleId !== null && (id === ruleId || id.startsWith(`${ruleId}/`))
}

/** Finds the rule with this id, else with the id one step up in the hierarchy, and so on. */
function byId(components: readonly SarifComponent[], id: string | null): SarifRule | undefined {
  let name = id ?? ''
  for (let step = 0; name !== '' && step < HIERARCHY_STEPS_MAX; step++) {
    const current = name
    const rule = firstOf(components, (component) => component.byId(current))
    if (rule !== undefined) return rule
    name = name.slice(0, Math.max(name.lastIndexOf('/'), 0))
  }
  return undefined
}

function firstOf(
  components: readonly SarifComponent[],
  find: (component: SarifComponent) => SarifRule | undefined,
): SarifRule | undefined {
  for (const component of components) {
    const rule = find(component)
    if (rule !== undefined) return rule
  }
  return undefined
}
