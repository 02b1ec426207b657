/** Parts of texts, words, lists, objects, and paths that are rare or of several types. */
import { commonWord, rareWords, unusualWord, usualWord } from '../generator/vocabulary.ts'
import type { PeerQuery } from './peer-query.ts'

const { thousandth, rare, single, han } = rareWords

export function textQueries(): readonly PeerQuery[] {
  return [
    {
      name: 'ILIKE, a part of a rare word',
      btql: `measures: count(1) as n\nfilter: output ILIKE '%ugzwan%'`,
      sql: (q) => `select count(*) as n from ${q.table} where ${q.outputContains('ugzwan')}`,
    },
    {
      name: 'ILIKE, a common word',
      btql: `measures: count(1) as n\nfilter: output ILIKE '%${commonWord}%'`,
      sql: (q) => `select count(*) as n from ${q.table} where ${q.outputContains(commonWord)}`,
    },
    {
      name: 'ILIKE, rare Han characters',
      btql: `measures: count(1) as n\nfilter: output ILIKE '%${han.text}%'`,
      sql: (q) => `select count(*) as n from ${q.table} where ${q.outputContains(han.text)}`,
    },
    {
      name: 'ILIKE on a dictionary',
      btql: `measures: count(1) as n\nfilter: metadata.model ILIKE '%MINI%'`,
      sql: (q) => `select count(*) as n from ${q.table} where ${q.model} ilike '%MINI%'`,
    },
    {
      name: 'search, a rare word in any field',
      btql: `measures: count(1) as n\nfilter: search('${rare.text}')`,
      sql: (q) => `select count(*) as n from ${q.table} where ${q.textHas(rare.text)}`,
    },
    {
      name: 'search, a word of one row, whole',
      btql: `select: *\nfilter: search('${single.text}')\nsort: created desc\nlimit: 20`,
      sql: (q) => `select ${q.body} as body from ${q.table} where ${q.textHas(single.text)}
        order by ${q.created} desc limit 20`,
      isOrdered: true,
      isWhole: true,
    },
    {
      name: 'match, two usual words',
      btql: `measures: count(1) as n\nfilter: output match '${usualWord} ${commonWord}'`,
      sql: (q) => `select count(*) as n from ${q.table}
        where ${q.outputHas([usualWord, commonWord])}`,
    },
    {
      name: 'match, an unusual word by model',
      btql: `dimensions: metadata.model as model
measures: count(1) as n
filter: output match '${unusualWord}'`,
      sql: (q) => `select ${q.model} as model, count(*) as n from ${q.table}
        where ${q.outputHas([unusualWord])} group by model`,
    },
    {
      name: 'match, latest 10 of one in a thousand',
      btql: `select: id, created
filter: output match '${thousandth.text}'
sort: created desc
limit: 10`,
      sql: (q) => `select ${q.id} as id, ${q.ms(q.created)} as created from ${q.table}
        where ${q.outputHas([thousandth.text.toLowerCase()])}
        order by ${q.created} desc limit 10`,
      isOrdered: true,
      times: ['created'],
    },
    {
      name: 'tags include one',
      btql: `measures: count(1) as n\nfilter: tags includes 'billing'`,
      sql: (q) => `select count(*) as n from ${q.table} where ${q.hasTag('billing')}`,
    },
    {
      name: 'tags include two',
      btql: `dimensions: metadata.environment as environment
measures: count(1) as n
filter: tags includes ['urgent', 'español']`,
      sql: (q) => `select ${q.environment} as environment, count(*) as n from ${q.table}
        where ${q.hasTag('urgent')} and ${q.hasTag('español')} group by environment`,
    },
    {
      name: 'group by each tag',
      btql: 'dimensions: tag\nmeasures: count(1) as n\nunpivot: tags as tag',
      sql: (q) => `select tag, count(*) as n from (${q.eachTag}) as tags group by tag`,
    },
    {
      name: 'an object includes an object',
      btql: `measures: count(1) as n\nfilter: metadata.customer includes {plan: 'team', tier: 3}`,
      sql: (q) => `select count(*) as n from ${q.table} where ${q.plan} = 'team' and ${q.tier} = 3`,
    },
    {
      name: 'a list includes an object',
      btql: `measures: count(1) as n\nfilter: output.hits includes {document: 'kb/77'}`,
      sql: (q) => `select count(*) as n from ${q.table} where ${q.hitOf('kb/77')}`,
    },
    {
      name: 'path of several types, a number',
      btql: 'measures: count(1) as n, avg(metrics.tokens) as tokens\nfilter: metadata.priority > 3',
      sql: (q) => `select count(*) as n, avg(${q.tokens}) as tokens from ${q.table}
        where ${q.priorityNumber} > 3`,
    },
    {
      name: 'path of several types, a string or an object',
      btql: `measures: count(1) as n
filter: metadata.priority = 'high' or metadata.priority.level = 2`,
      sql: (q) => `select count(*) as n from ${q.table}
        where ${q.priorityText} = 'high' or ${q.priorityLevel} = 2`,
    },
    {
      name: 'rare path',
      btql: 'measures: count(1) as n\nfilter: metadata.flag_7 = true',
      sql: (q) => `select count(*) as n from ${q.table} where ${q.flag} = true`,
    },
  ]
}
