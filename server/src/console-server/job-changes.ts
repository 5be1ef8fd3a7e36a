import { type Change, type ChangeType, EVERY_ORGANIZATION } from '../organizations/change.ts'
import type { Job } from '../platform/queue/job.ts'
import type { Services } from '../services.ts'

/** The fields of the payloads of jobs that say what a job is about. */
type About = Partial<Record<'org_id' | 'run_id' | 'upload_id' | 'policy_id' | 'deployment_id' | 'id', string>>

type ChangesOf = (about: About) => Change[]

/** What jobs change, by their names. Their other effects are notified in their transactions. */
export const CHANGES_OF_JOBS: Record<string, ChangesOf> = {
  'event ci.run.finished': ({ run_id }) => one('run', run_id),
  'event ci.report.changed': ({ run_id }) => one('run', run_id),
  'event ci.artifact.completed': () => some('run'),
  'ci.complete-runs': () => some('run'),
  'ci.read-run-details': () => some('run'),
  'ci.read-run-failures': () => some('run'),
  'security.read-upload': ({ upload_id }) => one('security_upload', upload_id),
  'event security.upload.finished': ({ upload_id }) => [
    ...one('security_upload', upload_id),
    ...some('finding', 'issue'),
  ],
  'event security.alerts.changed': () => some('alert', 'finding', 'issue'),
  'event security.findings.triaged': () => some('finding', 'issue', 'triage'),
  'security.read-alert': () => some('alert'),
  'event security.intel.imported': () => some('finding', 'issue'),
  'event compliance.policy.applied': ({ policy_id }) => one('policy', policy_id),
  'compliance.evaluate-repository': () => some('compliance_result'),
  'deployments.decide-by-policy': ({ id }) => one('deployment', id),
  'deployments.read-environment': () => some('deployment'),
  'deployments.read-reviews': ({ id }) => one('deployment', id),
  'deployments.read-attempt': ({ id }) => one('deployment', id),
  'event deployments.deployment.bypassed': ({ deployment_id }) => one('deployment', deployment_id),
  'event deployments.gate.configured': () => some('gate', 'deployment'),
  'provenance.record-changes': () => some('change'),
  'event codehosts.connection.made': () => some('code_host', 'repository'),
  'codehosts.synchronize': () => some('code_host', 'repository'),
  'event repositories.repository.renamed': () => some('repository', 'run', 'deployment', 'alert'),
}

/** The same job, which notes what it has changed for live updates. */
export function withChanges(job: Job<Services, never>): Job<Services, never> {
  const changesOf = CHANGES_OF_JOBS[job.name]
  if (changesOf === undefined) return job
  return {
    ...job,
    run: async (services, payload, stopping) => {
      await job.run(services, payload, stopping)
      const about: About = payload
      services.changes.note(about.org_id ?? EVERY_ORGANIZATION, changesOf(about))
    },
  }
}

function one(type: ChangeType, id: string | undefined): Change[] {
  return [{ type, id: id ?? null }]
}

function some(...types: ChangeType[]): Change[] {
  return types.map((type) => ({ type, id: null }))
}
