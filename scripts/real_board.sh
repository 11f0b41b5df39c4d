#!/usr/bin/env bash
# Evaluates two small real models, and makes a board of them and of recorded answers: FOLDER, about two hours on two cores.
# A second run continues. Data come from AFRIEVAL_DATA, or without it from the hub; RECORDED has answers of GPT-4o.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:?give the folder of the results}
smollm2=$(.venv/bin/python scripts/real_model.py smollm2)
gemma=$(.venv/bin/python scripts/real_model.py gemma3)
iroko=english,amharic,hausa,igbo,kinyarwanda,swahili,xhosa,yoruba,zulu

evaluate() { # TASK LANGUAGES: both models, English and native prompts, 100 questions of each language
	for model in "$smollm2" "$gemma"; do
		name=$(basename "$model" .gguf)
		.venv/bin/afrieval run "$model" "$1" --languages "$2" --prompts 1 --prompt-language both \
			--sample 100 --dtype bfloat16 --out "$folder/runs/$name/$1"
	done
}

evaluate afrixnli "$iroko,french,ewe,luganda,oromo,shona,twi"
evaluate sib200 "$iroko"
evaluate afrisenti amharic,hausa,igbo,kinyarwanda,swahili,yoruba
evaluate masakhanews_headline english,hausa,igbo,swahili,yoruba
evaluate afrimmlu "$iroko"
evaluate belebele english,igbo,zulu
evaluate afrimgsm english,swahili

recorded() { # TASK PROMPT CODE FILE COLUMN: answers of GPT-4o; the prompt has the labels of these answers
	cat > "$folder/gpt_4o.yaml" <<-YAML
		model_name: GPT-4o (2024)
		model_type: recorded
		backend_args: {file: $RECORDED/$4, column: $5}
	YAML
	.venv/bin/afrieval run "$folder/gpt_4o.yaml" "$1" --prompts "$2" --languages "$3" --answer-form generate \
		--out "$folder/runs/gpt_4o/$1_$3"
}

if [ -n "${RECORDED:-}" ]; then
	for code in eng swa; do
		recorded afrixnli 4 $code "afrixnli_gpt4o__$code.csv" output
		recorded afrimmlu 1 $code "gpt_4o_few_shots_25__$code.csv" output
		recorded afrimgsm 1 $code "afrimgsm_gpt4o__$code.csv" gpt_4o
	done
fi
.venv/bin/afrieval leaderboard "$folder/runs" -o "$folder/site"
