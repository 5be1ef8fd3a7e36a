import { Group, Progress, Stack, Text } from '@mantine/core'
import { IconCircleCheck, IconClock } from '@tabler/icons-react'
import { ToneBadge } from '../page/badges.tsx'
import { Section } from '../page/section.tsx'
import { Time } from '../page/time.tsx'
import type { Decision } from './answer-options.ts'
import classes from './deployment.module.css'
import { type Deployment, fullStateOf } from './deployment-state.ts'

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
  const { name, approvals, required_approvals: required, approved_at, policies } = gate
  return (
    <Stack component="li" gap={6} className={classes.row}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500}>
          {name}
        </Text>
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
        {policies.length > 0 && ` Requires the policies ${policies.join(', ')}.`}
        {approved_at && (
          <>
            {' '}
            Approved <Time at={approved_at} />.
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
