import { Alert, Button, type ButtonProps, Group, List, Stack } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { describeProblem } from '../page/states.tsx'
import type { ApiForm, FormProblem } from './use-api-form.ts'

type ApiFormViewProps<Values extends object> = {
  form: ApiForm<Values>
  /** The label of the button that sends: a verb. */
  submitLabel: string
  submitProps?: ButtonProps
  /** Shows a button Cancel. */
  onCancel?: () => void
  children: ReactNode
}

/** A form with its fields, the error that belongs to none of them, and its buttons. */
export function ApiFormView<Values extends object>(props: ApiFormViewProps<Values>) {
  const { form, submitLabel, submitProps, onCancel, children } = props
  return (
    <form onSubmit={form.submit} noValidate>
      <Stack gap="md">
        {children}
        {form.problem && <FormProblemAlert {...form.problem} />}
        <Group justify={onCancel ? 'flex-end' : 'flex-start'} gap="xs">
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={form.isBusy} {...submitProps}>
            {submitLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function FormProblemAlert({ error, others }: FormProblem) {
  return (
    <Alert color="red" variant="light" role="alert" icon={<IconAlertTriangle />}>
      {describeProblem(error)}
      {others.length > 0 && (
        <List size="sm" mt={4}>
          {others.map((text) => (
            <List.Item key={text}>{text}</List.Item>
          ))}
        </List>
      )}
    </Alert>
  )
}
