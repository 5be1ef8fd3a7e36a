import { Alert } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'

/** Why a form was not accepted. Announced when it appears. */
export function FormProblem({ problem }: { problem: string | null }) {
  if (problem === null) return null
  return (
    <Alert color="red" variant="light" icon={<IconAlertCircle aria-hidden />} role="alert" p="sm">
      {problem}
    </Alert>
  )
}
