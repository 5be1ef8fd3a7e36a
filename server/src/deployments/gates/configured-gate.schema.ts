import { type Static, Type } from 'typebox'
import { ChangedBy, GivenReason, Reason } from '../../audit/audit.schema.ts'
import { Closed, Nullable, Timestamp } from '../../platform/http/schemas.ts'

export const REQUIRED_APPROVALS_MAX = 20
export const GATE_POLICIES_MAX = 20
export const GATE_NAME_CHARS_MAX = 100

const Glob = (description: string) => Type.String({ minLength: 1, maxLength: 200, description })

/** Whether policies approve a gate. */
export const ApproveByPolicies = Type.Union([Type.Boolean(), Type.Literal('covering')], {
  description:
    'Whether the policies that the gate names approve it, once all of them pass. Otherwise policies can only block, and people or keys answer. The default is true if policies are named. `covering`: all policies of the organization in `enforce` that cover the deployment approve it. Only gates that were made before this field existed have it, and it cannot be set.',
})

/** What people decide about a gate. */
const GATE_FIELDS = {
  name: Type.String({
    minLength: 1,
    maxLength: GATE_NAME_CHARS_MAX,
    description: 'The name of the gate, unique within the organization.',
  }),
  environment: Glob('A glob of the environments that the gate covers. `*` does not match a slash.'),
  repository: Nullable(
    Glob('A glob of the repositories that the gate covers, with or without their host. Null covers every repository.'),
  ),
  branch: Nullable(Glob('A glob of the branches that the gate covers. Null covers every branch and tag.')),
  required_approvals: Type.Integer({
    minimum: 1,
    maximum: REQUIRED_APPROVALS_MAX,
    description: 'The number of different principals that must approve.',
  }),
  allow_api_keys: Type.Boolean({
    description: 'Whether API keys can approve and reject. If false, only people can.',
  }),
  allow_run_creator: Type.Boolean({
    description:
      'Whether who opened the deployment can approve it: who wrote to its run, opened the gate, created one of these credentials, or started the run at the code host. The deployment then has `self_approved`. Keys with the scope `write:ci` never answer.',
  }),
  policies: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: GATE_POLICIES_MAX,
    description:
      'The names of policies that the gate evaluates, in addition to those that cover the deployment. A policy that does not exist blocks.',
  }),
  approve_by_policies: ApproveByPolicies,
  require_linked_accounts: Type.Boolean({
    description:
      'Whether people whose account at the code host is not linked are refused where somebody started the run there: it is not known whether that was they.',
  }),
}

export const GateSettings = Closed(GATE_FIELDS)
export type GateSettings = Static<typeof GateSettings>

/** Settings as they are given. `requireGate` adds whether policies approve. */
export type GivenGate = Omit<GateSettings, 'approve_by_policies'> & Partial<GateSettings>

const { name, environment, ...OTHERS } = GATE_FIELDS

/** The body of createConfiguredGate. */
export const NewConfiguredGate = Closed({
  name,
  environment,
  ...Type.Partial(Type.Object(OTHERS)).properties,
  reason: Reason,
})

/** The body of updateConfiguredGate. */
export const GateUpdate = Closed({
  ...Type.Partial(GateSettings).properties,
  expected_version: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'The version that the change is based on. The request fails if the gate has another version.',
    }),
  ),
  reason: Reason,
})

const Time = (description: string) => Type.Unsafe<Date>({ ...Timestamp, description })

export const ConfiguredGate = Closed(
  {
    id: Type.String({ description: 'The id of the gate.' }),
    ...GATE_FIELDS,
    version: Type.Integer({ description: 'The number of the current version. It grows with every change.' }),
    created_at: Time('When the gate was created.'),
    updated_at: Time('When the gate was last changed.'),
  },
  { $id: 'ConfiguredGate', description: 'A gate that deployments need the approval of.' },
)
export type ConfiguredGate = Static<typeof ConfiguredGate>

/** A gate in the list, with what somebody should look at. */
export const ListedGate = Closed(
  {
    ...ConfiguredGate.properties,
    problems: Type.Array(Type.String(), {
      description:
        'Why nobody or nothing can approve the gate as it was meant, such as a named policy that does not exist, and whether it is approved as before an upgrade. Empty if there is nothing to look at.',
    }),
  },
  { $id: 'ListedGate', description: 'A gate in the list.' },
)

export const GateVersion = Closed(
  {
    ...GATE_FIELDS,
    version: Type.Integer({ description: 'The number of the version. The first one is 1.' }),
    deleted: Type.Boolean({ description: 'Whether the gate was deleted. The settings are then those before.' }),
    changed_by: ChangedBy,
    reason: GivenReason,
    created_at: Time('When the version was stored.'),
  },
  { $id: 'GateVersion', description: 'A version of a gate.' },
)
export type GateVersion = Static<typeof GateVersion>
