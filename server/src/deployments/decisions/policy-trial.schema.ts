import { Type } from 'typebox'
import type { TriedRun } from '../../compliance/engines/dry-run-policy.ts'
import { PolicyMode } from '../../compliance/policies/policy.schema.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import type { TriedDeployment } from './try-policy.ts'

const Text = (description: string) => Type.String({ description })
const Count = (description: string) => Type.Integer({ description })
const Time = (description: string) => Type.Unsafe<Date>({ ...Timestamp, description })

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
