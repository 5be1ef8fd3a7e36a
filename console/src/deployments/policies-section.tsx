import { Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconEye, IconShieldX } from '@tabler/icons-react'
import { useOrganization } from '../api/session.ts'
import { type Icon, type Tone, ToneBadge } from '../page/badges.tsx'
import { Link } from '../page/link.tsx'
import { pages } from '../page/pages.ts'
import { Section } from '../page/section.tsx'
import { Time } from '../page/time.tsx'
import type { Decision } from './answer-options.ts'
import classes from './deployment.module.css'
import type { Deployment } from './deployment-state.ts'
import { RuleResult } from './rule-result.tsx'

type Policy = Decision['policies'][number]

const DECISIONS: Record<Policy['decision'], [label: string, tone: Tone, icon: Icon]> = {
  approve: ['Passes', 'success', IconCircleCheck],
  block: ['Blocks', 'failure', IconShieldX],
  warn: ['Warns', 'waiting', IconAlertTriangle],
}

type PoliciesSectionProps = { deployment: Deployment; decision: Decision }

/** The latest evaluation of the policies: each rule with what it was based on. */
export function PoliciesSection({ deployment, decision: { policies } }: PoliciesSectionProps) {
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
        <PolicyResult key={policy.id} policy={policy} deployment={deployment} />
      ))}
    </Section>
  )
}

/** What blocks comes first. */
const URGENCY: Policy['decision'][] = ['block', 'warn', 'approve']

function byUrgency(a: Policy, b: Policy): number {
  return URGENCY.indexOf(a.decision) - URGENCY.indexOf(b.decision)
}

function PolicyResult({ policy, deployment }: { policy: Policy; deployment: Deployment }) {
  const { slug: org } = useOrganization()
  const { id, name, version, mode, rules } = policy
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
          </Text>
        </Group>
        <Group gap={6}>
          {mode === 'monitor' && (
            <ToneBadge tone="neutral" icon={IconEye}>
              Monitor only
            </ToneBadge>
          )}
          <ToneBadge tone={tone} icon={icon}>
            {label}
          </ToneBadge>
        </Group>
      </Group>
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
