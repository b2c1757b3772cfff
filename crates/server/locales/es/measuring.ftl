measuring-title = Evaluación
measuring-lead = Las preguntas cuya respuesta conoce muestran lo bien que responde esta caja y si un cambio ayudó. Más en <a href="/docs/evaluation">Evaluation</a>.
measuring-asked = Lo que se preguntó
measuring-runs = Evaluar
measuring-running = { $asked } de { $total } preguntas hechas
measuring-progress = Preguntas hechas
measuring-running-hint = La evaluación continúa aunque salga de esta página. Termina si cierra la sesión o si el servidor se detiene.
measuring-failed = La última evaluación no llegó al final: { $cause }
measuring-cost = { $count ->
        [one] Se hace una pregunta. Eso cuesta de { $least } a { $most } unidades; le quedan { $left } este mes.
       *[other] Se hacen { $count } preguntas. Eso cuesta de { $least } a { $most } unidades; le quedan { $left } este mes.
    }
measuring-run = Evaluar ahora
measuring-nothing = Indique lo que es correcto para al menos una pregunta; entonces se podrá evaluar esta caja.
measuring-history = Historial
measuring-plot = Encontrado entre los tres primeros y respondido bien, evaluación por evaluación
measuring-plot-says = { $count } evaluaciones, la más antigua primero. La última encontró el { $found } y respondió bien el { $right }. La tabla siguiente tiene todas las cifras.
measuring-when = Cuándo
measuring-questions = Preguntas
measuring-found-1 = Encontrado el primero
measuring-found-3 = Entre los 3 primeros
measuring-found-10 = Entre los 10 primeros
measuring-ndcg = nDCG@10
measuring-right = Respondido bien
measuring-refused = Bien rechazado
measuring-latency = Tiempo mediano
measuring-units = Unidades
measuring-ms = { $count } ms
measuring-percent = { $value } %
measuring-detail = Pregunta por pregunta
measuring-all-right = Todas las preguntas se respondieron bien y todas las búsquedas encontraron un archivo correcto.
measuring-went-well = { $count ->
        [one] Una pregunta fue bien
       *[other] { $count } preguntas fueron bien
    }
measuring-answer = Respuesta
measuring-is-right = correcta
measuring-is-wrong = incorrecta
measuring-wrong-answers = responde aunque ningún documento lo hace
measuring-wrong-lacks = no dice «{ $fact }»
measuring-wrong-uncited = no cita ningún archivo correcto
measuring-not-found = no está entre los 10 primeros
measuring-rank = puesto { $rank }
measuring-set = Conjunto de evaluación
measuring-set-empty = Aún no hay preguntas. Añádalas abajo o desde <a href="/boxes/{ $box }/questions">lo que se preguntó</a>.
measuring-size = { $count ->
        [one] Una pregunta de { $most } como máximo
       *[other] { $count } preguntas de { $most } como máximo
    }
measuring-export = { $count ->
        [one] Descargar una como JSONL
       *[other] Descargar { $count } como JSONL
    }
measuring-expected = Lo correcto
measuring-incomplete = por completar
measuring-unanswerable = los documentos no lo responden
measuring-edit = Editar
measuring-facts = Lo que debe decir la respuesta
measuring-facts-hint = Una cosa por línea; las alternativas se separan con una barra: 36 meses | tres años
measuring-files = Archivos correctos
measuring-files-hint = Uno por línea, con página si quiere: terms.pdf#page=3
measuring-no-answer = Los documentos no responden a esta pregunta
measuring-add-title = Añadir una pregunta
measuring-add = Añadir pregunta
measuring-import-title = Pegar preguntas
measuring-lines = Preguntas, una por línea
measuring-import-hint = Cada línea es un objeto JSON como los que lee <code>quire eval</code>. Una pregunta que ya está recibe lo que la línea espera.
measuring-import = Añadir preguntas
measuring-added = { $count ->
        [0] El conjunto de evaluación ya lo tenía.
        [one] Se añadió una pregunta al conjunto de evaluación.
       *[other] Se añadieron { $count } preguntas al conjunto de evaluación.
    }
measuring-to-set = Añadir al conjunto de evaluación
measuring-in-set = en el conjunto de evaluación
