/** A score that a project begins to ask its reviewers for. */
import { useState } from 'preact/hooks'
import { ChoiceField, TextField, textOf } from '../component/field.tsx'
import { type Category, createReviewScore, type ReviewScore } from '../service/review.ts'

const forms: readonly { readonly value: ReviewScore['form']; readonly label: string }[] = [
  { value: 'categories', label: 'One of several categories' },
  { value: 'slider', label: 'A number from 0 to 100 %' },
  { value: 'text', label: 'Free text' },
]

/** Part of a form; nothing is made where its name stays empty. */
export function ScoreFields({ isOpen }: { readonly isOpen: boolean }) {
  const [form, setForm] = useState<string>('categories')
  return (
    <details class="new-score" open={isOpen}>
      <summary>{isOpen ? 'Score to give' : 'New score'}</summary>
      <div class="fields">
        <TextField label="Name of the score" name="score_name" isRequired={isOpen} />
        <ChoiceField
          label="Reviewers give"
          name="score_form"
          choices={forms}
          value={form}
          onChange={setForm}
        />
        {form === 'categories' && (
          <TextField
            label="Categories"
            name="score_categories"
            placeholder="Good, Fair, Poor"
            hint="The best first. Scores go down evenly, from 100 % to 0 %; “Good = 80” sets one."
          />
        )}
      </div>
    </details>
  )
}

/** Makes the score that the form describes, and gives its name. */
export async function scoreFrom(projectId: string, data: FormData): Promise<string | undefined> {
  const name = textOf(data, 'score_name')
  if (name === '') return undefined
  const form =
    forms.find(({ value }) => value === textOf(data, 'score_form'))?.value ?? 'categories'
  const categories = form === 'categories' ? categoriesIn(textOf(data, 'score_categories')) : []
  await createReviewScore(projectId, { name, form, categories })
  return name
}

function categoriesIn(text: string): readonly Category[] {
  const names = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
  if (names.length < 2) throw new Error('Name two categories or more, with commas between them')
  return names.map((each, i) => {
    const [, name = each, percent] = /^(.*?)\s*=\s*(\d+(?:\.\d+)?)\s*%?$/.exec(each) ?? []
    const value = percent === undefined ? 1 - i / (names.length - 1) : Number(percent) / 100
    if (value > 1) throw new Error(`${name}: a score lies between 0 and 100 %`)
    return { name, value }
  })
}
