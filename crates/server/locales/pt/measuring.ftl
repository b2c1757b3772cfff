measuring-title = Avaliação
measuring-lead = Perguntas cuja resposta você conhece mostram quão bem esta caixa responde e se uma mudança ajudou. Mais em <a href="/docs/evaluation">Evaluation</a>.
measuring-asked = O que foi perguntado
measuring-runs = Avaliar
measuring-running = { $asked } de { $total } perguntas feitas
measuring-progress = Perguntas feitas
measuring-running-hint = A avaliação continua se você sair desta página. Ela termina se você encerrar a sessão ou se o servidor parar.
measuring-failed = A última avaliação não chegou ao fim: { $cause }
measuring-cost = { $count ->
        [one] Uma pergunta é feita. Isso custa de { $least } a { $most } unidades; restam { $left } neste mês.
       *[other] { $count } perguntas são feitas. Isso custa de { $least } a { $most } unidades; restam { $left } neste mês.
    }
measuring-run = Avaliar agora
measuring-nothing = Diga o que é certo para pelo menos uma pergunta; então esta caixa poderá ser avaliada.
measuring-history = Histórico
measuring-plot = Encontrado entre os três primeiros e respondido corretamente, avaliação por avaliação
measuring-plot-says = { $count } avaliações, a mais antiga primeiro. A última encontrou { $found } e respondeu { $right } corretamente. A tabela abaixo tem todos os números.
measuring-when = Quando
measuring-questions = Perguntas
measuring-found-1 = Encontrado em primeiro
measuring-found-3 = Entre os 3 primeiros
measuring-found-10 = Entre os 10 primeiros
measuring-ndcg = nDCG@10
measuring-right = Respondido corretamente
measuring-refused = Corretamente recusado
measuring-latency = Tempo mediano
measuring-units = Unidades
measuring-ms = { $count } ms
measuring-percent = { $value }%
measuring-detail = Pergunta por pergunta
measuring-all-right = Todas as perguntas foram respondidas corretamente, e todas as pesquisas encontraram um arquivo certo.
measuring-went-well = { $count ->
        [one] Uma pergunta foi bem
       *[other] { $count } perguntas foram bem
    }
measuring-answer = Resposta
measuring-is-right = certa
measuring-is-wrong = errada
measuring-wrong-answers = responde embora nenhum documento o faça
measuring-wrong-lacks = não diz “{ $fact }”
measuring-wrong-uncited = não cita nenhum arquivo certo
measuring-not-found = não está entre os 10 primeiros
measuring-rank = posição { $rank }
measuring-set = Conjunto de avaliação
measuring-set-empty = Ainda não há perguntas. Adicione algumas abaixo ou a partir do <a href="/boxes/{ $box }/questions">que foi perguntado</a>.
measuring-size = { $count ->
        [one] Uma pergunta de no máximo { $most }
       *[other] { $count } perguntas de no máximo { $most }
    }
measuring-export = { $count ->
        [one] Baixar uma como JSONL
       *[other] Baixar { $count } como JSONL
    }
measuring-expected = O que é certo
measuring-incomplete = a completar
measuring-unanswerable = os documentos não respondem
measuring-edit = Editar
measuring-facts = O que a resposta deve dizer
measuring-facts-hint = Um item por linha; alternativas são separadas por uma barra: 36 meses | três anos
measuring-files = Arquivos certos
measuring-files-hint = Um por linha, com página se quiser: terms.pdf#page=3
measuring-no-answer = Os documentos não respondem a esta pergunta
measuring-add-title = Adicionar uma pergunta
measuring-add = Adicionar pergunta
measuring-import-title = Colar perguntas
measuring-lines = Perguntas, uma por linha
measuring-import-hint = Cada linha é um objeto JSON como <code>quire eval</code> o lê. Uma pergunta que já existe recebe o que a linha espera.
measuring-import = Adicionar perguntas
measuring-added = { $count ->
        [0] O conjunto de avaliação já tinha isso.
        [one] Uma pergunta foi adicionada ao conjunto de avaliação.
       *[other] { $count } perguntas foram adicionadas ao conjunto de avaliação.
    }
measuring-to-set = Adicionar ao conjunto de avaliação
measuring-in-set = no conjunto de avaliação
