import { Type } from 'typebox'
import { ChangedBy, GivenReason } from '../../audit/audit.schema.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { PolicyDefinition, PolicyMode } from './policy.schema.ts'

const Text = (description: string) => Type.String({ description })
const Count = (description: string) => Type.Integer({ description })
const Time = (description: string) => Type.Unsafe<Date>({ ...Timestamp, description })

const SUMMARY = {
  id: Text('The id of the policy.'),
  name: Text('The name of the policy.'),
  version: Count('The number of the current version.'),
  mode: PolicyMode,
}

export const ListedPolicy = Closed(
  {
    ...SUMMARY,
    repository: Nullable(
      Text('The repository whose file the policy comes from, as `owner/name`. Null for a policy of the organization.'),
    ),
    path: Nullable(Text('The path of the file in its repository. Null for a policy of the organization.')),
    engine: Nullable(
      OneOf(['cel', 'opa', 'wasm', 'rego'], {
        description:
          'What evaluates the policy: CEL rules, an OPA server, a WebAssembly bundle, or a Rego module of a repository. Null if the stored definition cannot be read.',
      }),
    ),
    changed_by: ChangedBy,
    reason: GivenReason,
    results: Closed(
      {
        passing: Count('Repositories in which every rule passes.'),
        failing: Count('Repositories in which a blocking rule fails or cannot be evaluated.'),
        warning: Count('Repositories in which another rule does not pass.'),
        not_evaluated: Count('Repositories without a run and a security report.'),
      },
      { description: 'The number of repositories by the status of their compliance result.' },
    ),
    created_at: Time('When the policy was created.'),
    updated_at: Time('When the current version was applied.'),
  },
  { $id: 'Policy', description: 'A policy with its current version.' },
)

const VERSION = {
  version: Count('The number of the version. The first one is 1.'),
  mode: PolicyMode,
  changed_by: ChangedBy,
  reason: GivenReason,
  created_at: Time('When the version was applied.'),
}

export const PolicyVersion = Closed(VERSION, { $id: 'PolicyVersion', description: 'A version of a policy.' })

export const StoredPolicyVersion = Closed(
  {
    ...VERSION,
    file: Nullable(Text('The text of the policy file. Null for versions that were applied before files were stored.')),
    definition: Nullable(PolicyDefinition, {
      description: 'The content of the file with all defaults. Null if the stored definition cannot be read.',
    }),
  },
  { description: 'A version of a policy with its file.' },
)

export const PolicyWithFile = Closed({ ...ListedPolicy.properties, current: StoredPolicyVersion })

const Mistake = Closed({
  line: Count('The line of the mistake, from 1.'),
  column: Count('The column of the mistake, from 1.'),
  path: Text('The field with the mistake. Empty if the mistake concerns the whole file.'),
  message: Text('What is wrong.'),
})

export const ValidatedPolicy = Closed({
  valid: Type.Boolean({ description: 'Whether the file can be applied.' }),
  mistakes: Type.Array(Mistake, {
    description: 'Every mistake in the file, in its order. Empty if the file is valid.',
  }),
  definition: Nullable(PolicyDefinition, {
    description: 'The content of the file with all defaults. Null if the file is not valid.',
  }),
})

export const AppliedPolicy = Closed({
  ...SUMMARY,
  changed: Type.Boolean({ description: 'False if the current version already has the same content.' }),
})

export const RemovedPolicy = Closed({
  id: Text('The id of the removed policy.'),
  name: Text('The name of the removed policy.'),
})

const Difference = Closed({
  path: Text('The part of the policy, such as `mode` or `rules.tests-ran.expression`.'),
  before: Type.Unknown({ description: 'The part in the earlier version. Null if it was added.' }),
  after: Type.Unknown({ description: 'The part in the later version. Null if it was removed.' }),
})

export const ComparedVersions = Closed({
  from: StoredPolicyVersion,
  to: StoredPolicyVersion,
  differences: Type.Array(Difference, {
    description: 'The parts that differ. Empty if only comments or the layout differ.',
  }),
})
