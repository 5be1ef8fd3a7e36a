import type { GroupingFacts } from './grouping-facts.ts'
import type { KnownRule } from './known-rules.ts'
import type { Links } from './links.ts'
import { getSpan, type Span } from './spans.ts'
import { isConfiguration } from './weakness-names.ts'

/** A declared resource: `aws_s3_bucket.logs` has the type `aws_s3_bucket` and the name `logs`. */
export type Resource = { type: string | null; name: string }

const MODULE = /^(?:module\.[^.]+\.)+/

/** Without indexes of modules (`module.logs[0]`) and of counted resources (`logs["eu"]`). */
function removeIndexes(address: string): string {
  const parts = address.split(']')
  const last = parts.pop() ?? ''
  const kept = parts.map((part) => (part.includes('[') ? part.slice(0, part.indexOf('[')) : `${part}]`))
  return kept.join('') + last
}

/** The type and name in the name of a resource, in lower case. */
function parseResource(text: string): Resource {
  const address = removeIndexes(text.toLowerCase())
    .replace(MODULE, '')
    .replace(/^resource\./, '')
  const parts = address.split(/[./]/).filter((part) => part !== '' && part !== 'default')
  const name = parts.at(-1) ?? address
  return { type: parts.length > 1 ? (parts[0] ?? null) : null, name }
}

/** Whether two names mean one resource. A name without a type means a resource of any type. */
export function isSameResource(one: Resource, other: Resource): boolean {
  return one.name === other.name && (one.type === null || other.type === null || one.type === other.type)
}

/**
 * The resource of each configuration finding: the one that it names, else the innermost one whose
 * declaration contains its lines, as other findings of the file tell.
 */
export function computeResources(links: Links): (Resource | null)[] {
  const { members } = links
  const resources = members.map((facts, index) => ownResource(facts, links.getRule(index)))
  const spans = members.flatMap((facts, index) => (isConfiguration(facts) ? (getSpan(facts, index) ?? []) : []))
  const declared: Span[] = []
  // Outer declarations first.
  spans.sort((a, b) => a.from - b.from || b.to - a.to || byName(resources[a.index], resources[b.index]))
  for (const span of spans) {
    while (declared.length > 0 && (declared.at(-1) as Span).to < span.from) declared.pop()
    if (resources[span.index] === FILE) continue
    const outer = resources[innermost(declared, span)] ?? null
    const own = resources[span.index] ?? null
    if (own === null) resources[span.index] = outer
    else {
      if (own.type === null && outer?.name === own.name) resources[span.index] = outer
      declared.push(span)
    }
  }
  return resources
}

/** What a rule about a whole file flags. */
export const FILE: Resource = { type: null, name: 'the whole file' }

function ownResource(facts: GroupingFacts, rule: KnownRule): Resource | null {
  if (!isConfiguration(facts)) return null
  if (rule.isAboutFile && facts.path !== null) return FILE
  return facts.resource_name === null ? null : parseResource(facts.resource_name)
}

/** Findings that name their resource first. */
function byName(one: Resource | null | undefined, other: Resource | null | undefined): number {
  if (!one || !other) return Number(!one) - Number(!other)
  return one.name < other.name ? -1 : Number(one.name > other.name)
}

const DEPTH_MAX = 20

/** The index of the finding whose lines contain these ones; -1 if there is none. */
function innermost(declared: readonly Span[], { to }: Span): number {
  for (let at = declared.length - 1; at >= Math.max(0, declared.length - DEPTH_MAX); at--) {
    const outer = declared[at] as Span
    if (outer.to >= to) return outer.index
  }
  return -1
}
