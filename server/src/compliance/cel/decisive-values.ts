import type { ASTNode } from '@marcbachmann/cel-js'
import { PolicyInput } from '../input/policy-input.schema.ts'
import { normalizeText } from '../policies/policy-verdict.ts'

const MEMBERS = new Set(Object.keys(PolicyInput.properties))
const ITEMS_SHOWN_MAX = 10

/** Lists the input values that an expression reads, such as `findings.open.critical = 2`. */
export function describeDecisiveValues(ast: ASTNode, input: PolicyInput): string | null {
  const paths = [...new Set(pathsIn(ast))].filter((path) => MEMBERS.has(path.split('.', 1)[0] as string))
  if (paths.length === 0) return null
  return normalizeText(paths.map((path) => `${path} = ${describe(valueAt(input, path))}`).join('; '))
}

/** Returns each chain of member accesses, such as `a.b.c`. Includes variables of macros. */
function pathsIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(pathsIn)
  if (!isNode(node)) return []
  const path = getPath(node)
  return path === null ? pathsIn(node.args) : [path]
}

function getPath({ op, args }: ASTNode): string | null {
  if (op === 'id') return args as string
  if (op !== '.') return null
  const [receiver, name] = args as [ASTNode, string]
  const path = getPath(receiver)
  return path === null ? null : `${path}.${name}`
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value
}

function valueAt(input: PolicyInput, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
  }, input)
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return 'absent'
  if (!Array.isArray(value)) return JSON.stringify(value)
  const shown = value.slice(0, ITEMS_SHOWN_MAX).map(describeItem)
  const more = value.length > shown.length ? [`and ${value.length - shown.length} more`] : []
  return value.length === 0 ? 'none' : [...shown, ...more].join(', ')
}

/** Describes an item of a list by the members that identify it. */
function describeItem(item: unknown): string {
  if (typeof item !== 'object' || item === null) return String(item)
  const { kind, name, status, tool, path, number, at } = item as Record<string, unknown>
  const parts = [kind, tool, path, number, name, status].filter((part) => part !== undefined)
  return tool === undefined ? parts.join(' ') : `${parts.join(' ')} at ${at}`
}
