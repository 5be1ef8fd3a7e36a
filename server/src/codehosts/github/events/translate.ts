import type { Clock } from '../../../platform/clock.ts'
import type { HostWebhooks } from '../../code-host.ts'
import { alertChange, checkRun, pullRequest, pullRequestReview, push } from './change-events.ts'
import type { EventTranslator } from './event-translator.ts'
import { installation, repository } from './installation-events.ts'
import {
  deployment,
  deploymentProtectionRule,
  deploymentReview,
  deploymentStatus,
  workflowJob,
  workflowRun,
} from './run-events.ts'

/** Every event that we use, by the name in `X-GitHub-Event`. */
export function createTranslate(clock: Clock): HostWebhooks['translate'] {
  const translators: Readonly<Record<string, EventTranslator>> = {
    workflow_run: workflowRun,
    workflow_job: workflowJob,
    check_run: checkRun,
    deployment,
    deployment_status: deploymentStatus,
    deployment_protection_rule: deploymentProtectionRule(clock),
    deployment_review: deploymentReview,
    code_scanning_alert: alertChange('code_scanning'),
    dependabot_alert: alertChange('dependabot'),
    secret_scanning_alert: alertChange('secret_scanning'),
    pull_request: pullRequest,
    pull_request_review: pullRequestReview,
    push,
    repository,
    installation,
    installation_repositories: installation,
  }
  return (event, payload) =>
    Object.hasOwn(translators, event) ? (translators[event] as EventTranslator)(payload) : { type: 'unknown' }
}
