import { createHash } from 'node:crypto'
import capabilities from './opa-capabilities.json' with { type: 'json' }
import { fetchOpaDecision, OpaError, RegoError, sendModule } from './opa-server.ts'

/**
 * The built-in functions that Rego of repositories may call. They compute from their arguments, the
 * clock or a random number: none reads the network, files, or settings of the server. Authors check
 * with `opa check --capabilities` and the same file.
 */
const ALLOWED = new Set(capabilities.builtins.map(({ name }) => name))

/** Names what may be called, so that a module is checked again when the list changes. */
export const CAPABILITIES_HASH = createHash('sha256')
  .update([...ALLOWED].join())
  .digest('hex')

/**
 * Lists what a module calls, by OPA's own parser, so that no spelling of a call is overlooked. The
 * server cannot be started with a capabilities file: only `opa build`, `check` and `eval` take one.
 * Without the condition at its end, a module that cannot be parsed would call nothing.
 */
const READER = `
import rego.v1

module := rego.parse_module("policy.rego", input.module)

rules := object.get(module, "rules", [])

operators contains term if {
	walk(rules, [path, terms])
	path[count(path) - 1] == "terms"
	is_array(terms)
	term := terms[0]
}

operators contains term if {
	walk(rules, [_, node])
	node.type == "call"
	term := node.value[0]
}

replacements contains target if {
	walk(rules, [path, replaced])
	path[count(path) - 1] == "with"
	some each in replaced
	target := each.target
}

name_of(term) := concat(".", [part.value | some part in term.value]) if {
	term.type == "ref"
	every part in term.value { part.type in {"var", "string"} }
} else := term.value if {
	term.type == "var"
} else := "a computed name"

found := {
	"calls": {name_of(term) | some term in operators},
	"functions": {rule.head.name | some rule in rules},
	"replaced": {name_of(target) | some target in replacements},
} if module["package"]
`

type Found = { calls: string[]; functions: string[]; replaced: string[] }

const READER_NAME = `r${createHash('sha256').update(READER).digest('hex').slice(0, 40)}`

/**
 * Throws `RegoError` if a module calls what is not allowed, or replaces a function by another one.
 * Returns false if OPA cannot parse the module. Throws `OpaError`.
 */
export async function checkCalls(url: string, module: string): Promise<boolean> {
  const found = (await fetchFound(url, module)) ?? (await storeReader(url, module))
  if (found === undefined) return false
  const called = found.calls.filter((name) => !ALLOWED.has(name) && !found.functions.includes(name))
  const replaced = found.replaced.filter((name) => name !== 'input' && !name.startsWith('input.'))
  const mistakes = [
    ...called.map((name) => ({ ...locate(module, name), message: `a policy cannot call ${name}` })),
    ...replaced.map((name) => ({ ...locate(module, name), message: `a policy cannot replace ${name} (with)` })),
  ]
  if (mistakes.length > 0) throw new RegoError(mistakes)
  return true
}

async function fetchFound(url: string, module: string): Promise<Found | undefined> {
  return (await fetchOpaDecision(url, `shiplock/readers/${READER_NAME}/found`, { module })) as Found | undefined
}

/** The server forgets its modules when it restarts. */
async function storeReader(url: string, module: string): Promise<Found | undefined> {
  const reader = `package shiplock.readers.${READER_NAME}\n${READER}`
  await sendModule(url, `shiplock/readers/${READER_NAME}`, reader).catch((cause: Error) => {
    throw new OpaError(`OPA cannot check what policies call; use version 1.0 or newer (${cause.message})`, { cause })
  })
  return fetchFound(url, module)
}

/** Where the name stands first: OPA's parser does not tell. */
function locate(module: string, name: string): { line: number; column: number } {
  const lines = module.split('\n')
  const index = Math.max(
    0,
    lines.findIndex((line) => line.includes(name)),
  )
  return { line: index + 1, column: Math.max(0, lines[index]?.indexOf(name) ?? 0) + 1 }
}

/** One call of each kind that reaches beyond the module, and one that no version of OPA knows. */
const PROBES = [
  'http.send({})',
  'http["send"]({})',
  'opa.runtime()',
  'net.lookup_ip_addr("localhost")',
  'json.match_schema({}, {})',
  'json.verify_schema({})',
  'rego.parse_module("", "")',
  'providers.aws.sign_req({}, {}, 0)',
  'unknown.function(0)',
  'abs(1) with abs as json.verify_schema',
]

/**
 * Asks the OPA server about calls that have to be refused. Returns those that it would let through,
 * and throws if it refuses what is allowed.
 */
export async function listUnrefusedCalls(url: string): Promise<string[]> {
  await checkCalls(url, toProbe('count(input.attestations)'))
  const unrefused: string[] = []
  for (const call of PROBES) {
    const isParsed = await checkCalls(url, toProbe(call)).catch((error: unknown) => {
      if (error instanceof RegoError) return false
      throw error
    })
    if (isParsed) unrefused.push(call)
  }
  return unrefused
}

function toProbe(call: string): string {
  return `package probe\n\nimport rego.v1\n\nresults := [x | x := ${call}]\n`
}
