import { type Static, Type } from 'typebox'
import { Closed, Nullable, OneOf } from '../platform/http/schemas.ts'

const PolicyMode = OneOf(['monitor', 'enforce'])
export type PolicyMode = Static<typeof PolicyMode>

/** What a policy covers by itself, as globs; null covers everything. */
const PolicyBindings = Closed({
  environments: Nullable(Type.Array(Type.String())),
  repositories: Nullable(Type.Array(Type.String())),
  branches: Nullable(Type.Array(Type.String())),
})
export type PolicyBindings = Static<typeof PolicyBindings>

/** What counts as evidence. `trust: any` lets self-reported evidence in; older than `max_age_ms` counts as missing. */
const TERMS = { trust: Nullable(OneOf(['any'])), max_age_ms: Nullable(Type.Integer({ minimum: 1 })) }

/** `rule` is its id within the policy; `reason` is what people read when it does not pass. */
const CelRule = Closed({
  rule: Type.String(),
  name: Type.String(),
  expression: Type.String(),
  blocking: Type.Boolean(),
  reason: Nullable(Type.String()),
  ...TERMS,
})
export type CelRule = Static<typeof CelRule>

/** `decision` is a path under /v1/data of the OPA server; `bundle` the SHA-256 of a stored module and its data. */
const PolicyEngine = Type.Union([
  Closed({ type: Type.Literal('cel'), rules: Type.Array(CelRule) }),
  Closed({ type: Type.Literal('opa'), decision: Type.String(), ...TERMS }),
  Closed({ type: Type.Literal('wasm'), bundle: Type.String(), entrypoint: Type.String(), ...TERMS }),
])
export type PolicyEngine = Static<typeof PolicyEngine>

/** A policy as one version of it is stored. Without bindings it covers only what a gate names it for. */
export const PolicyDefinition = Closed({
  name: Type.String(),
  mode: PolicyMode,
  bindings: Nullable(PolicyBindings),
  engine: PolicyEngine,
})
export type PolicyDefinition = Static<typeof PolicyDefinition>
