import { Type } from 'typebox'
import { ChangedBy, GivenReason } from '../../audit/author.schema.ts'
import type { TriedRun } from '../../compliance/find-runs-to-try.ts'
import { PolicyDefinition, PolicyMode } from '../../compliance/policies/policy.schema.ts'
import type { TriedDeployment } from '../../deployments/policy/find-deployments-to-try.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'

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

const STATUS = OneOf(['pass', 'fail', 'warn', 'error'], {
  description: 'The result of the rule. `error` means that it could not be evaluated.',
})

const RuleVerdict = Closed({
  rule: Text('The id of the rule.'),
  name: Text('The name of the rule.'),
  status: STATUS,
  blocking: Type.Boolean({ description: 'Whether `fail` or `error` blocks a deployment.' }),
  reason: Nullable(Text('Why the rule does not pass.')),
  evidence: Nullable(Text('The values that the result is based on.')),
})

const COMMON = {
  repository: Text('The repository as `host/owner/name`, or as `owner/name` if the host is not known.'),
  branch: Nullable(Text('The branch. Null if it is not known, or for a tag.')),
  commit_sha: Nullable(Text('The commit. Null if it is not known.')),
  status: Text('The current status.'),
}

const Run = Closed(
  {
    id: Text('The id of the run.'),
    attempt: Count('The newest attempt of the run.'),
    pipeline_name: Text('The name of the pipeline.'),
    ...COMMON,
    created_at: Time('When the run was created.'),
  },
  { description: 'The run that the policy was evaluated on. Absent for a deployment.' },
)

const Deployment = Closed(
  {
    id: Text('The id of the deployment.'),
    environment: Text('The environment.'),
    ...COMMON,
    created_at: Time('When the deployment was created.'),
  },
  { description: 'The deployment that the policy was evaluated on. Absent for a run.' },
)

const DECISION = OneOf(['approve', 'block', 'warn'], {
  description: 'What the policy decides in `enforce`. `warn`: a rule does not pass, but no blocking one.',
})

export const DryRun = Closed({
  name: Text('The name of the policy.'),
  mode: PolicyMode,
  is_complete: Type.Boolean({ description: 'False if the time limit of 15 seconds ended the dry run early.' }),
  decisions: Closed(
    { approve: Count('Approved.'), block: Count('Blocked.'), warn: Count('Warned about.') },
    { description: 'The number of results by decision.' },
  ),
  rules: Type.Array(
    Closed({
      rule: Text('The id of the rule.'),
      pass: Count('How often the rule passed.'),
      fail: Count('How often it failed.'),
      warn: Count('How often it warned.'),
      error: Count('How often it could not be evaluated.'),
    }),
    { description: 'The number of results by rule and status.' },
  ),
  results: Type.Array(
    Closed({
      run: Type.Optional(Type.Unsafe<TriedRun>(Run)),
      deployment: Type.Optional(Type.Unsafe<TriedDeployment>(Deployment)),
      decision: DECISION,
      rules: Type.Array(RuleVerdict, { description: 'The result of each rule.' }),
    }),
    { description: 'One result for each run or deployment, newest first.' },
  ),
})
