import { type Static, Type } from 'typebox'
import { DURATION_DAYS_MAX } from '../../platform/clock.ts'
import { Closed, OneOf } from '../../platform/http/schemas.ts'
import { BAD_NEWS, EVIDENCE_SCOPES, NARROW_SCOPES, TRUSTS } from '../policies/policy.schema.ts'

const GLOBS_MAX = 50
const RULES_MAX = 50
const TOOLS_MAX = 20
const EXPRESSION_CHARS_MAX = 4000

type TextOptions = { maxLength: number; examples: [string]; pattern?: string; format?: string }

/** Not blank, and without U+0000 and lone surrogates, which PostgreSQL cannot store. */
const STORABLE = '^(?=[\\s\\S]*\\S)[^\\u0000\\ud800-\\udfff]*$'

/** A text field. `examples` is part of the message for a mistake. */
const Text = (description: string, options: TextOptions) => Type.String({ description, pattern: STORABLE, ...options })

const Path = (description: string) =>
  Text(description, {
    maxLength: 200,
    examples: ['shiplock/release'],
    pattern: '^[A-Za-z_][\\w-]*(?:/[A-Za-z_][\\w-]*)*$',
  })

const Globs = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ format: 'glob', examples: ['*'] }), { minItems: 1, maxItems: GLOBS_MAX, description }),
  )

const Bindings = Type.Object(
  {
    environments: Globs('Globs of the environments that the policy covers. Default: every environment.'),
    repositories: Globs(
      'Globs of the repositories that the policy covers, with or without their host. Default: every repository.',
    ),
    branches: Globs(
      'Globs of the branches that the policy covers. Only `*` covers tags. Default: every branch and tag.',
    ),
    workflows: Globs(
      'Globs of the workflows that the policy covers: their names, or the files that define them. Default: every workflow.',
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description:
      'What the policy covers. A deployment must match every list. Without bindings, a policy only covers the gates that name it.',
  },
)

const TERMS = {
  trust: Type.Optional(
    OneOf(TRUSTS, {
      description:
        '`verified` accepts what a code host or an OIDC token says. `uploaded` also accepts security reports of API keys. `any` also accepts what CI jobs report with API keys. Default: the `default_trust` of the organization.',
    }),
  ),
  bad_news: Type.Optional(
    OneOf(BAD_NEWS, {
      description:
        'Asks the rule a second time, with the evidence that this `trust` accepts. The worse of the two answers counts. Default: the rule is asked once.',
    }),
  ),
  absent_evidence: Type.Optional(
    OneOf(['error', 'pass'], {
      description:
        '`pass` lets `findings` and `issues` count although nobody has scanned. Default: `error`, they are absent until a report that the rule accepts was read.',
    }),
  ),
  evidence: Type.Optional(
    OneOf(EVIDENCE_SCOPES, {
      description:
        'What a security report must be about, so that `findings` and `issues` are known: the deployed `branch`, or the deployed `commit`. Default: `branch`.',
    }),
  ),
  tools: Type.Optional(
    Type.Array(Text('The name of a scanner, in upper or lower case.', { maxLength: 200, examples: ['semgrep'] }), {
      minItems: 1,
      maxItems: TOOLS_MAX,
      description: 'Scanners that must all have reported, so that `findings` and `issues` are known. Default: any one.',
    }),
  ),
  max_age: Type.Optional(
    Type.String({
      format: 'age',
      pattern: '^[1-9][0-9]{0,5}[mhd]$',
      examples: ['7d', '12h', '30m'],
      description: `The maximum age of evidence in minutes (m), hours (h) or days (d), at most ${DURATION_DAYS_MAX}d. Older evidence is ignored. Default: no maximum.`,
    }),
  ),
}

const Rule = Closed(
  {
    rule: Text('The id of the rule, unique within the policy.', {
      maxLength: 64,
      examples: ['no-critical-findings'],
      pattern: '^[a-z0-9][a-z0-9_.-]*$',
    }),
    name: Type.Optional(
      Text('The display name of the rule. Default: its id.', {
        maxLength: 200,
        examples: ['No critical finding is open'],
      }),
    ),
    expression: Text(
      'A CEL expression over the policy input. `true` passes, `false` fails. A map sets the status, reason and evidence.',
      { maxLength: EXPRESSION_CHARS_MAX, examples: ['findings.open.critical == 0'], format: 'cel' },
    ),
    blocking: Type.Optional(
      Type.Boolean({ description: 'Whether the rule blocks when it fails or has an error. Default: true.' }),
    ),
    reason: Type.Optional(
      Text('The reason to show if the rule does not pass.', {
        maxLength: 500,
        examples: ['Critical findings are open.'],
      }),
    ),
    ...TERMS,
  },
  { description: 'A condition that must be true.' },
)

const HEAD = {
  name: Text('The name of the policy, unique within the organization.', {
    maxLength: 100,
    examples: ['tests-passed'],
    pattern: '^[\\p{L}\\p{N}][\\p{L}\\p{N} ._:/()+-]*$',
  }),
  mode: OneOf(['monitor', 'enforce'], {
    description: '`enforce` blocks deployments that do not comply. `monitor` only reports.',
  }),
  bindings: Type.Optional(Bindings),
  scope: Type.Optional(
    OneOf(NARROW_SCOPES, {
      description:
        'Narrows the reports of CI jobs that the policy looks at to those of the `run` that deploys, or of its `attempt`. Default: those of the commit, in all its runs and attempts.',
    }),
  ),
}

/** The names of the engines. A policy without `engine` uses the first one. */
export const ENGINES = ['cel', 'opa', 'wasm'] as const
const Engine = <const Name extends (typeof ENGINES)[number]>(name: Name, description: string) =>
  Type.Literal(name, { description })

const CelPolicy = Closed(
  {
    ...HEAD,
    engine: Type.Optional(Engine('cel', 'Evaluates the rules as CEL expressions. This is the default.')),
    rules: Type.Array(Rule, { minItems: 1, maxItems: RULES_MAX, description: 'The rules of the policy.' }),
  },
  { description: 'A policy with CEL rules.' },
)

const OpaPolicy = Closed(
  {
    ...HEAD,
    engine: Engine('opa', 'Evaluates the policy on the OPA server at `SHIPLOCK_OPA_URL`.'),
    decision: Path('The path of the decision under /v1/data of the OPA server.'),
    ...TERMS,
  },
  { description: 'A policy that an OPA server evaluates.' },
)

const WasmPolicy = Closed(
  {
    ...HEAD,
    engine: Engine('wasm', 'Evaluates a bundle that `opa build -t wasm` compiled to WebAssembly.'),
    bundle: Text('The path of the bundle.tar.gz or policy.wasm, relative to the policy file.', {
      maxLength: 500,
      examples: ['bundle.tar.gz'],
    }),
    entrypoint: Path('The entrypoint of the module, as given to `opa build -e`.'),
    ...TERMS,
  },
  { description: 'A policy compiled to WebAssembly.' },
)

/** A policy file, as people write it. Published as docs/policies/policy.schema.json. */
export const PolicyFileSchema = Type.Union([CelPolicy, OpaPolicy, WasmPolicy])
export type PolicyFileContent = Static<typeof PolicyFileSchema>

export const POLICY_SCHEMAS = { cel: CelPolicy, opa: OpaPolicy, wasm: WasmPolicy }
