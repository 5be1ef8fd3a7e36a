import { type JsonObject, memberOf, objectOf, textOf, textsOf } from '../../../platform/json/read-value.ts'
import { boundedText, NAME_MAX } from '../../vocabulary/bounded-text.ts'
import {
  addressOf,
  commentOf,
  idsOf,
  purlOf,
  type Subject,
  timeOf,
  VEX_STATUSES,
  type VexStatement,
  type VexStatus,
} from '../report/vex-statement.ts'

/** A statement with everything it is about; null for what cannot be identified. */
type ReadStatement = Omit<VexStatement, keyof Subject> & { subjects: (Subject | null)[] }

/** Reads a statement. Returns the reason if it cannot be read, for the end of a sentence. */
export function readStatement(statement: JsonObject): ReadStatement | string {
  const status = statusOf(textOf(statement.status))
  if (status === null) return 'has no known `status`'
  const vuln_ids = vulnerabilityOf(statement.vulnerability)
  if (vuln_ids.length === 0) return 'names no vulnerability'
  return {
    status,
    vuln_ids,
    subjects: allSubjectsOf(statement),
    justification: boundedText(textOf(statement.justification), NAME_MAX),
    comment: commentOf([textOf(statement.impact_statement), textOf(statement.status_notes)]),
    stated_at: timeOf(textOf(statement.last_updated)) ?? timeOf(textOf(statement.timestamp)),
  }
}

function statusOf(text: string | null): VexStatus | null {
  return VEX_STATUSES.find((status) => status === text?.trim().toLowerCase()) ?? null
}

/** An id or, since version 0.2, an object with a name and aliases. */
function vulnerabilityOf(vulnerability: unknown): string[] {
  const object = objectOf(vulnerability)
  if (object === null) return idsOf([textOf(vulnerability)])
  const named = idsOf([textOf(object.name), ...textsOf(object.aliases)])
  return named.length > 0 ? named : idsOf([identifierOf(object)])
}

/** A statement without products is about one that cannot be identified. */
function allSubjectsOf({ products, subcomponents }: JsonObject): (Subject | null)[] {
  const named = listOf(products)
  return named.length === 0 ? [null] : named.flatMap((product) => subjectsOf(product, subcomponents))
}

/**
 * A product with subcomponents is about each of them. A subcomponent that cannot be identified does
 * not make the statement one about the whole product. Up to version 0.0.1, all products of a
 * statement have its subcomponents.
 */
function subjectsOf(product: unknown, shared: unknown): (Subject | null)[] {
  const purl = packageOf(product)
  const name = purl ?? addressOf(identifierOf(product))
  const subcomponents = [...listOf(memberOf(product, 'subcomponents')), ...listOf(shared)]
  if (subcomponents.length === 0) return [name === null ? null : { package: purl, product: name }]
  return subcomponents.map((subcomponent) => {
    const inner = packageOf(subcomponent)
    return inner === null ? null : { package: inner, product: name }
  })
}

/** The package URL among the identifiers of a component, or its id if that is one. */
function packageOf(component: unknown): string | null {
  return purlOf(textOf(memberOf(component, 'identifiers', 'purl'))) ?? purlOf(identifierOf(component))
}

function identifierOf(component: unknown): string | null {
  return textOf(component) ?? textOf(memberOf(component, '@id')) ?? textOf(memberOf(component, 'id'))
}

/** JSON-LD writes a list of one as its only element. */
function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}
