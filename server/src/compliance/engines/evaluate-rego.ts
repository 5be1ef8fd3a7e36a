import { createHash } from 'node:crypto'
import type { Services } from '../../services.ts'
import type { PolicyEngine } from '../policies/policy.schema.ts'
import type { PolicyInput } from '../policies/policy-input.schema.ts'
import { createErrorVerdict, type RuleVerdict, readVerdicts } from '../policies/policy-verdict.ts'
import { fetchOpaDecision, OpaError, RegoError, sendModule } from './opa-server.ts'
import { CAPABILITIES_HASH, checkCalls } from './rego-capabilities.ts'

type RegoEngine = Extract<PolicyEngine, { type: 'rego' }>
type RegoModule = Pick<RegoEngine, 'module' | 'dialect'>

/** The rule that a module defines its verdicts with. */
const RESULTS = 'results'

/**
 * Evaluates a Rego module on the OPA server. Each module has a package of its own there, named by
 * its content and by what may be called, so that modules of different repositories never meet, and
 * none is evaluated that was stored under another list. The server forgets modules when it
 * restarts; one that it does not know is stored again. `note` is told the time of the server.
 */
export async function evaluateRego(
  services: Pick<Services, 'config' | 'log'>,
  engine: RegoModule,
  input: PolicyInput,
  note: (usedMs: number) => void,
): Promise<RuleVerdict[]> {
  const name = moduleName(engine)
  return withOpa(services, name, async (url) => {
    const path = `shiplock/repositories/${name}/${RESULTS}`
    const query = () => fetchOpaDecision(url, path, toModuleInput(engine, input), note)
    const known = await query()
    if (known !== undefined) return readVerdicts(known)
    return (await storeOrExplain(url, engine)) ?? readVerdicts(await query())
  })
}

/**
 * Checks and compiles a module on the OPA server. Throws `RegoError` with its mistakes, or
 * `OpaError`.
 */
export async function checkRego({ config }: Pick<Services, 'config'>, engine: RegoModule): Promise<void> {
  if (config.opaUrl === null)
    throw new RegoError([
      { line: 1, column: 1, message: 'Rego requires an OPA server, and SHIPLOCK_OPA_URL is not set' },
    ])
  await storeModule(config.opaUrl, engine)
}

/**
 * Stores a module that calls nothing but what is allowed. One that cannot be parsed is compiled
 * under a name at which nobody asks, because only this says where its mistakes are.
 */
async function storeModule(url: string, engine: RegoModule): Promise<void> {
  const name = moduleName(engine)
  const module = withPackage(engine, name)
  if (await checkCalls(url, module)) return sendModule(url, `shiplock/repositories/${name}`, module)
  await sendModule(url, `shiplock/unparsed/${name}`, withPackage(engine, `unparsed_${name}`))
  throw new RegoError([{ line: 1, column: 1, message: 'rego.parse_module of the OPA server cannot read the policy' }])
}

async function storeOrExplain(url: string, engine: RegoModule): Promise<RuleVerdict[] | null> {
  try {
    await storeModule(url, engine)
    return null
  } catch (error) {
    if (!(error instanceof RegoError)) throw error
    return createErrorVerdict(`The policy is refused: ${error.message}`)
  }
}

function moduleName({ module, dialect }: RegoModule): string {
  return `m${createHash('sha256').update(`${CAPABILITIES_HASH}\n${dialect}\n${module}`).digest('hex').slice(0, 40)}`
}

/**
 * The package stands where the module declared its own, so that the lines of mistakes stay right.
 */
function withPackage({ module }: RegoModule, name: string): string {
  return module.replace(PACKAGE_PLACE, `package shiplock.repositories.${name}`)
}

/** Stands in a stored module where its package declaration was. */
export const PACKAGE_PLACE = '# shiplock:package'

/** Modules of the `prodgator` dialect expect attestations oldest first, with `trusted`. */
function toModuleInput({ dialect }: RegoModule, input: PolicyInput): object {
  if (dialect === 'shiplock') return input
  const attestations = input.attestations
    .map((item) => ({ ...item, trusted: item.trust === 'verified' }))
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
  return { ...input, version: 'prodgator.input/v1', subject: 'release', attestations }
}

/**
 * Evaluates a policy on the OPA server. A failure is logged and becomes an `error` verdict. `note`
 * is told the time of the server.
 */
export async function evaluateDecision(
  { config, log }: Pick<Services, 'config' | 'log'>,
  decision: string,
  input: PolicyInput,
  note: (usedMs: number) => void,
): Promise<RuleVerdict[]> {
  return withOpa({ config, log }, decision, async (url) =>
    readVerdicts(await fetchOpaDecision(url, decision, input, note)),
  )
}

/** Calls `evaluate` with the address of the OPA server. `policy` names the policy in the log. */
async function withOpa(
  { config, log }: Pick<Services, 'config' | 'log'>,
  policy: string,
  evaluate: (url: string) => Promise<RuleVerdict[]>,
): Promise<RuleVerdict[]> {
  if (config.opaUrl === null) return createErrorVerdict('No OPA server is configured: SHIPLOCK_OPA_URL is not set')
  try {
    return await evaluate(config.opaUrl)
  } catch (err) {
    if (!(err instanceof OpaError)) throw err
    log.warn({ err, policy }, 'The OPA server returned no decision')
    return createErrorVerdict(err.message)
  }
}
