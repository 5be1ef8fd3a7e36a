import {
  type HostDeployment,
  type HostDeploymentReview,
  type HostDeploymentState,
  type HostDeploymentStatus,
  type HostEnvironment,
  type HostGateRequest,
  NO_RULES,
} from '../../src/codehosts/host-deployment.ts'
import type { HostEvent, HostEventKind, HostSource } from '../../src/codehosts/host-event.ts'
import {
  applyDeployment,
  applyDeploymentReview,
  applyDeploymentStatus,
  applyGateRequest,
  applyRunToDeployments,
} from '../../src/deployments/events/apply-deployment.ts'
import type { TestApi } from './api.ts'
import { hostAccount, hostRepository } from './host-objects.ts'

const AT = new Date('2026-03-01T10:00:00.000Z')

/** `minutes` after the creation of `hostDeployment`. */
export function minute(minutes: number): Date {
  return new Date(AT.getTime() + minutes * 60_000)
}

export function hostDeployment(fields: Partial<HostDeployment> = {}): HostDeployment {
  return {
    repository: hostRepository(),
    id: '501',
    environment: 'production',
    ref: 'main',
    commit_sha: 'a'.repeat(40),
    run: { id: '9001', attempt: 1 },
    creator: hostAccount(),
    description: null,
    created_at: AT,
    updated_at: AT,
    ...fields,
  }
}

export function hostStatus(
  state: HostDeploymentState,
  at: Date,
  deployment: HostDeployment = hostDeployment(),
  fields: Partial<HostDeploymentStatus> = {},
): HostDeploymentStatus {
  return {
    deployment: { ...deployment, updated_at: at },
    id: `${deployment.id}${at.getTime() % 10_000_000}${state.length}`,
    state,
    environment_url: state === 'success' ? 'https://shop.example' : null,
    log_url: null,
    job_id: '77',
    creator: hostAccount({ login: 'octo-bot' }),
    created_at: at,
    ...fields,
  }
}

export const CALLBACK = 'https://api.github.com/repos/acme/shop/actions/runs/9001/deployment_protection_rule'

export function gateRequest(fields: Partial<HostGateRequest> = {}): HostGateRequest {
  return {
    repository: hostRepository(),
    environment: 'production',
    deployment: hostDeployment(),
    run: { id: '9001', attempt: null },
    ref: 'main',
    commit_sha: 'a'.repeat(40),
    callback_url: CALLBACK,
    callback_secret: null,
    is_rule: true,
    requested_at: AT,
    ...fields,
  }
}

export function hostReview(
  state: HostDeploymentReview['state'],
  fields: Partial<HostDeploymentReview> = {},
): HostDeploymentReview {
  return {
    repository: hostRepository(),
    run: { id: '9001', attempt: 1 },
    environments: ['production'],
    state,
    reviewer: state === 'requested' ? null : hostAccount({ login: 'grace' }),
    comment: state === 'requested' ? null : 'Looks good',
    at: minute(3),
    ...fields,
  }
}

export function hostEnvironment(fields: Partial<HostEnvironment> = {}): HostEnvironment {
  return { name: 'production', ...NO_RULES, ...fields }
}

export const REVIEWED = hostEnvironment({
  rule_types: ['required_reviewers'],
  reviewers: ['grace'],
  reviewer_teams: ['release'],
})

const HANDLERS: { [Kind in HostEventKind]?: unknown } = {
  deployment: applyDeployment,
  deployment_status: applyDeploymentStatus,
  gate_request: applyGateRequest,
  deployment_review: applyDeploymentReview,
  run: applyRunToDeployments,
}

/** Applies events in order, each in its own transaction, as deliveries are. */
export async function applyEvents({ services }: TestApi, source: HostSource, events: HostEvent[]): Promise<void> {
  for (const { kind, data } of events) {
    const handler = HANDLERS[kind] as (...given: unknown[]) => Promise<void>
    await services.sql.begin((tx) => handler(services, tx, source, data))
  }
}
