import { type Static, Type } from 'typebox'
import { SCOPES, type Scope } from '../../ci/evidence/evidence-scope.ts'
import { Closed, Nullable, OneOf } from '../../platform/http/schemas.ts'

export const PolicyMode = OneOf(['monitor', 'enforce'], {
  description: '`enforce` can block a deployment. `monitor` only reports.',
})
export type PolicyMode = Static<typeof PolicyMode>

const Globs = (description: string) => Nullable(Type.Array(Type.String(), { description }))

const PolicyBindings = Closed({
  environments: Globs('Globs of environment names. Null matches every environment.'),
  repositories: Globs('Globs of repositories, with or without their host. Null matches every repository.'),
  branches: Globs('Globs of branch names. Null matches every branch and tag.'),
  workflows: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Globs of workflow names, file paths or file names. Absent matches all.',
    }),
  ),
})
export type PolicyBindings = Static<typeof PolicyBindings>

/** What a rule can admit (trust §2). Each admits what the one before it does, and more. */
export const TRUSTS = ['verified', 'uploaded', 'any'] as const
export type Trust = (typeof TRUSTS)[number]

/** Whose evidence can count against a rule that does not admit it. */
export const BAD_NEWS = ['uploaded', 'any'] as const

/** What a report must be about to count as evidence. */
export const EVIDENCE_SCOPES = ['branch', 'commit'] as const

/** What a policy can look at instead of the commit (ci-evidence §3). */
export const NARROW_SCOPES = ['run', 'attempt'] as const satisfies readonly Scope[]

const TERMS = {
  trust: Nullable(
    OneOf([...TRUSTS, 'default'], {
      description:
        '`verified` admits what a code host or an OIDC token says, `uploaded` also security reports of API keys, and `any` also what CI jobs report with API keys. `default`: the rule names none, and that of the organization counts. Null: stored before this could be chosen, as `uploaded`.',
    }),
  ),
  max_age_ms: Nullable(
    Type.Integer({ minimum: 1, description: 'Older evidence is ignored. Null accepts evidence of any age.' }),
  ),
  absent_evidence: Type.Optional(
    OneOf(['error', 'pass'], {
      description:
        'Whether `findings` and `issues` are absent while no report that the rule admits was read. Absent in versions that were stored before this could be chosen: `pass`.',
    }),
  ),
  bad_news: Type.Optional(
    OneOf(BAD_NEWS, {
      description:
        'The rule is also asked with the evidence that this admits, and the worse of the two answers counts.',
    }),
  ),
  evidence: Type.Optional(
    OneOf(EVIDENCE_SCOPES, {
      description: 'Whether the report must be about the deployed commit. Absent: the deployed branch is enough.',
    }),
  ),
  tools: Type.Optional(
    Type.Array(Type.String(), { description: 'Scanners that must have reported. Absent: any scanner is enough.' }),
  ),
}
const EvidenceTerms = Closed(TERMS)
/** The conditions under which evidence counts for a rule, or for a whole policy in Rego. */
export type EvidenceTerms = Static<typeof EvidenceTerms>

const CelRule = Closed({
  rule: Type.String({ description: 'Id of the rule, unique within the policy.' }),
  name: Type.String({ description: 'Name shown to people.' }),
  expression: Type.String({ description: 'CEL expression over the policy input.' }),
  blocking: Type.Boolean({ description: 'Whether `fail` or `error` blocks a deployment. Otherwise it only warns.' }),
  reason: Nullable(Type.String({ description: 'Shown when the rule does not pass.' })),
  ...TERMS,
})
export type CelRule = Static<typeof CelRule>

/** The packages of Rego files in repositories, which differ in their input. */
const REGO_DIALECTS = ['shiplock', 'prodgator'] as const
export type RegoDialect = (typeof REGO_DIALECTS)[number]

const PolicyEngine = Type.Union(
  [
    Closed({
      type: Type.Literal('cel', { description: 'The kind of engine.' }),
      rules: Type.Array(CelRule, { description: 'The rules, in the order of the file.' }),
    }),
    Closed({
      type: Type.Literal('opa', { description: 'The kind of engine.' }),
      decision: Type.String({ description: 'Path of the decision under /v1/data of the OPA server.' }),
      ...TERMS,
    }),
    Closed({
      type: Type.Literal('wasm', { description: 'The kind of engine.' }),
      bundle: Type.String({ description: 'SHA-256 of the stored bundle.' }),
      entrypoint: Type.String({ description: 'Entrypoint of the WebAssembly module.' }),
      ...TERMS,
    }),
    Closed({
      type: Type.Literal('rego', { description: 'The kind of engine.' }),
      module: Type.String({ description: 'Rego module, with a mark in place of its package.' }),
      dialect: OneOf(REGO_DIALECTS, { description: 'The form of the input that the module expects.' }),
      ...TERMS,
    }),
  ],
  { description: 'The rules of the policy, and what evaluates them.' },
)
export type PolicyEngine = Static<typeof PolicyEngine>

/** A policy as stored in one of its versions. */
export const PolicyDefinition = Closed({
  name: Type.String({ description: 'Name of the policy, unique within the organization.' }),
  mode: PolicyMode,
  bindings: Nullable(Type.Union([PolicyBindings, Type.Array(PolicyBindings)]), {
    description: 'The deployments that the policy covers: those of one binding, or of any of several. Null for none.',
  }),
  engine: PolicyEngine,
  scope: Type.Optional(
    OneOf(SCOPES, {
      description:
        'The reports of CI jobs that the policy looks at: those of the `commit` in all runs of its repository, of the deploying `run`, or of its `attempt`. Absent in versions that were stored before this could be chosen: `attempt`.',
    }),
  ),
})
export type PolicyDefinition = Static<typeof PolicyDefinition>

/** What a version looks at. Those of before keep what they saw (ci-evidence §8.16). */
export function getScope({ scope = 'attempt' }: Pick<PolicyDefinition, 'scope'>): Scope {
  return scope
}

/** A policy compiled by `opa build -t wasm`: its WebAssembly module and its data. */
export type PolicyBundle = { wasm: Uint8Array; data: unknown }
