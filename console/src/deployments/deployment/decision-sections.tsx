import { Group, Progress, Stack, Text } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleMinus,
  IconCircleX,
  IconClipboardCheck,
  IconClock,
  IconEye,
  IconLockOpen,
  IconPlayerPlay,
  IconRocket,
  IconShieldX,
} from '@tabler/icons-react'
import { useOrganization } from '../../api/session.ts'
import { type Icon, type Tone, ToneBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { Section } from '../../page/sections.tsx'
import { Time } from '../../page/time.tsx'
import type { Decision } from '../answers/answer-options.ts'
import { type Deployment, fullStateOf } from '../facts/deployment-state.ts'
import classes from './deployment.module.css'
import { AskedEvidence, RuleResult } from './rule-result.tsx'
import { ENTRY_TONES, type TimelineEntry } from './timeline.ts'

const DECISIONS: Record<Policy['decision'], [label: string, tone: Tone, icon: Icon]> = {
  approve: ['Passes', 'success', IconCircleCheck],
  block: ['Blocks', 'failure', IconShieldX],
  warn: ['Decides nothing', 'neutral', IconCircleMinus],
}

/** What blocks comes first. */
const URGENCY: Policy['decision'][] = ['block', 'warn', 'approve']

const ICONS: Record<TimelineEntry['kind'], Icon> = {
  opened: IconPlayerPlay,
  policy: IconClipboardCheck,
  gate: IconLockOpen,
  approved: IconCircleCheck,
  rejected: IconCircleX,
  override: IconShieldX,
  bypass: IconAlertTriangle,
  running: IconPlayerPlay,
  deployed: IconRocket,
  ended: IconCircleMinus,
}

type Gate = Decision['gates'][number]

type GatesSectionProps = { deployment: Deployment; decision: Decision }

/** The gates that the deployment requires: how many have approved, and who may. */
export function GatesSection({ deployment, decision: { gates, answer_until } }: GatesSectionProps) {
  if (!deployment.gated && gates.length === 0) return null
  return (
    <Section title="Gates" count={gates.length || undefined}>
      {gates.length === 0 && <Uncovered deployment={deployment} />}
      {gates.length > 0 && (
        <Stack component="ul" gap={0} className={classes.list}>
          {gates.map((gate) => (
            <GateRow key={gate.id} gate={gate} isOpen={deployment.status === 'pending_approval'} />
          ))}
        </Stack>
      )}
      {answer_until && deployment.status === 'pending_approval' && (
        <Text size="sm" c="dimmed">
          Without an answer, the deployment expires <Time at={answer_until} />.
        </Text>
      )}
    </Section>
  )
}

function Uncovered({ deployment }: { deployment: Deployment }) {
  const isOurs = deployment.custom_rule_state !== null
  return (
    <Text size="sm" c="dimmed">
      {isOurs
        ? 'No gate covers this environment. A person answers, without a time limit.'
        : `Protection rules of the code host apply: ${deployment.protection_rule_types.join(', ')}. ${fullStateOf(deployment).label}.`}
    </Text>
  )
}

function GateRow({ gate, isOpen }: { gate: Gate; isOpen: boolean }) {
  const { slug: org } = useOrganization()
  const { name, approvals, required_approvals: required, approved_at } = gate
  return (
    <Stack component="li" gap={6} className={classes.row}>
      <Group justify="space-between" gap="xs">
        <Link {...pages.gate(org, gate.id)} size="sm" fw={500}>
          <bdi>{name}</bdi>
        </Link>
        {approved_at ? (
          <ToneBadge tone="success" icon={IconCircleCheck}>
            {gate.approved_by === 'policies' ? 'Approved by policies' : 'Approved'}
          </ToneBadge>
        ) : (
          <ToneBadge tone={isOpen ? 'waiting' : 'neutral'} icon={IconClock}>
            {isOpen ? 'Waiting' : 'Not approved'}
          </ToneBadge>
        )}
      </Group>
      {gate.approved_by !== 'policies' && (
        <Group gap="xs">
          <Text size="sm">
            {Math.min(approvals, required)} of {required} {required === 1 ? 'approval' : 'approvals'}
          </Text>
          {required > 1 && (
            <Progress
              value={(100 * Math.min(approvals, required)) / required}
              size="sm"
              w={96}
              aria-label={`Approvals of ${name}`}
            />
          )}
        </Group>
      )}
      <Text size="xs" c="dimmed">
        {whoMayAnswer(gate)}
        {describePolicies(gate)}
        {approved_at && (
          <>
            {' '}
            Approved <Time at={approved_at} />.
          </>
        )}
        {gate.after_rejection && ' It was rejected and opened again, so policies alone do not approve it.'}
        {gate.replaced_at && (
          <>
            {' '}
            The gate was changed or deleted <Time at={gate.replaced_at} />. For this deployment it counts as before,
            where that was stricter: it was opened before the change, or within 24 hours after.
          </>
        )}
      </Text>
    </Stack>
  )
}

function whoMayAnswer({ allow_api_keys, allow_run_creator }: Gate): string {
  const who = allow_api_keys ? 'People and API keys can answer.' : 'Only people can answer.'
  return allow_run_creator ? who : `${who} Who opened the deployment cannot approve it.`
}

/** What policies can do to the gate. */
function describePolicies({ policies, approve_by_policies }: Gate): string {
  if (approve_by_policies === 'covering') return ' The policies that cover the deployment approve it once they pass.'
  if (policies.length === 0) return ''
  const names = policies.length === 1 ? `The policy ${policies[0]}` : `The policies ${policies.join(', ')}`
  if (!approve_by_policies) return ` ${names} can only block it.`
  return policies.length === 1 ? ` ${names} approves it once it passes.` : ` ${names} approve it once all of them pass.`
}

type Policy = Decision['policies'][number]

type PoliciesSectionProps = { deployment: Deployment; decision: Decision }

/** The latest evaluation of the policies: each rule with what it was based on. */
export function PoliciesSection({ deployment, decision: { policies, evidence } }: PoliciesSectionProps) {
  const evaluation = deployment.policy_evaluation
  return (
    <Section title="Policies" count={policies.length || undefined}>
      {policies.length === 0 && (
        <Text size="sm" c="dimmed">
          No policy covers this deployment.
        </Text>
      )}
      {evaluation && policies.length > 0 && (
        <Text size="sm" c="dimmed">
          Evaluated <Time at={evaluation.at} />. They are evaluated again when somebody approves.
        </Text>
      )}
      {policies.toSorted(byUrgency).map((policy) => (
        <PolicyResult key={`${policy.id} ${policy.version}`} policy={policy} deployment={deployment} />
      ))}
      {evidence?.map((asked) => (
        <AskedEvidence key={asked.scope} asked={asked} />
      ))}
    </Section>
  )
}

function byUrgency(a: Policy, b: Policy): number {
  return URGENCY.indexOf(a.decision) - URGENCY.indexOf(b.decision)
}

function PolicyResult({ policy, deployment }: { policy: Policy; deployment: Deployment }) {
  const { slug: org } = useOrganization()
  const { id, name, version, mode, path, rules } = policy
  const [label, tone, icon] = DECISIONS[policy.decision]
  return (
    <Stack gap={0} className={classes.list}>
      <Group justify="space-between" gap="xs" className={classes.head}>
        <Group gap={8}>
          {version > 0 ? (
            <Link {...pages.policy(org, id)} size="sm" fw={600}>
              {name}
            </Link>
          ) : (
            <Text size="sm" fw={600}>
              {name}
            </Text>
          )}
          <Text size="xs" c="dimmed">
            {version > 0 ? `version ${version}` : 'does not exist'}
            {path !== null && `, ${path}`}
          </Text>
        </Group>
        <Group gap={6}>
          {mode === 'monitor' && (
            <ToneBadge tone="neutral" icon={IconEye}>
              Monitor only
            </ToneBadge>
          )}
          {path !== null && mode === 'enforce' && (
            <ToneBadge tone="neutral" icon={IconShieldX}>
              Can only block
            </ToneBadge>
          )}
          <ToneBadge tone={tone} icon={icon}>
            {label}
          </ToneBadge>
        </Group>
      </Group>
      {policy.earlier && <EarlierVersion earlier={policy.earlier} />}
      {rules === null && (
        <Text size="sm" c="dimmed" className={classes.row}>
          The results of the rules were not stored.
        </Text>
      )}
      {rules?.map((rule) => (
        <RuleResult key={rule.rule} rule={rule} deployment={deployment} />
      ))}
    </Stack>
  )
}

/** Why a version decides that is not the one of now. */
function EarlierVersion({ earlier: { replaced_at, asked_until } }: { earlier: NonNullable<Policy['earlier']> }) {
  return (
    <Text size="sm" c="dimmed" className={classes.row}>
      This version was replaced or removed <Time at={replaced_at} />. It still counts, because it says worse than the
      version of now, and{' '}
      {asked_until === null ? (
        'the deployment was opened before.'
      ) : (
        <>
          a change releases nothing for 24 hours: until <Time at={asked_until} />.
        </>
      )}
    </Text>
  )
}

/** What happened to a deployment, with who and when. */
export function TimelineSection({ entries }: { entries: TimelineEntry[] }) {
  return (
    <Section title="Timeline">
      <ol className={classes.timeline}>
        {entries.map((entry, index) => (
          <Entry key={`${entry.at} ${index}`} entry={entry} />
        ))}
      </ol>
    </Section>
  )
}

function Entry({ entry: { kind, title, by, at, note } }: { entry: TimelineEntry }) {
  const EntryIcon = ICONS[kind]
  return (
    <li className={classes.entry}>
      <span className={classes.bullet} style={{ color: `var(--shiplock-${ENTRY_TONES[kind]})` }}>
        <EntryIcon size={15} aria-hidden />
      </span>
      <Text size="sm" fw={500}>
        {title}
        {by !== null && (
          <Text span size="sm" fw={400}>
            {' by '}
            <bdi>{by}</bdi>
          </Text>
        )}
      </Text>
      {note !== null && (
        <Text size="sm" className={classes.note} lineClamp={12}>
          {note}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {at === null ? 'at an unknown time' : <Time at={at} />}
      </Text>
    </li>
  )
}
