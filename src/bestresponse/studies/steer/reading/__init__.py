"""Read dialogues: embeddings, classification, imitation."""
